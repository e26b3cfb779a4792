"""A process that reads a folder with the parts that production builds, and stops in the middle of it.

Arguments: the folder of the data, the folder of documents, and the name of the file that is never read to its end.
"""

import asyncio
import sys
from pathlib import Path

from bot.config import load_config
from bot.wiring.parts import open_parts
from storage.documents.child import ReadDocument, ReadFailure, ReadTask
from storage.documents.sandbox import Sandbox
from tests.told_process import say


async def main(data: Path, documents: Path, held: str) -> None:
    read = Sandbox.read

    async def read_up_to(self: Sandbox, task: ReadTask) -> ReadDocument | ReadFailure:
        if task.path.name == held:
            say("held")
            await asyncio.Event().wait()
        return await read(self, task)

    Sandbox.read = read_up_to  # type: ignore[method-assign]  # the file that takes long
    async with open_parts(load_config(None, data_dir=data)) as app:
        await app.ingests.add([documents], "local")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
