"""A graph with one sum of int8 products, by which Footnote sees whether a processor cuts such sums off.

`python -m tests.training.sums` writes it; needs `pip install onnx` beside Footnote itself.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from storage.models.local.loading import SUMS_FILE


def write() -> None:
    factors = numpy_helper.from_array(np.full((8, 1), 127, np.int8), "b")
    given = helper.make_tensor_value_info("a", TensorProto.UINT8, [1, 8])
    found = helper.make_tensor_value_info("c", TensorProto.INT32, [1, 1])
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b"], ["c"])], "sums", [given], [found], [factors]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(SUMS_FILE))


if __name__ == "__main__":
    write()
