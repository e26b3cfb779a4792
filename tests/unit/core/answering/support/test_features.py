from core.answering.support.check import FAULTY_FROM
from core.answering.support.features import fault_of, features, networks
from core.answering.support.texts import Text
from core.domain.support import Closeness


def test_the_networks_have_a_weight_for_each_number() -> None:
    values = features(Text("The mill closed."), Text("The mill closed in 1936."), (), Closeness())

    assert {len(row) for network in networks() for row in network.hidden} == {len(values)}
    assert all(len(network.output) == len(network.hidden) + 1 for network in networks())


def test_quotes_about_something_else_make_a_fault_likely() -> None:
    near = Closeness(mean=0.98, lowest=0.97, weakest=0.97, far=0.0, whole=0.98, strange=1.0, back=0.92)
    same = features(Text("Kell closed the mill."), Text("The mill was closed by Kell."), (), near)
    far = Closeness(mean=0.49, lowest=0.43, weakest=0.47, far=1.0, whole=0.61, strange=0.49, back=0.49)
    other = features(Text("The orchard has old apple trees."), Text("The sawmill belongs to a carpenter."), (), far)

    assert fault_of(same) < FAULTY_FROM < fault_of(other)
