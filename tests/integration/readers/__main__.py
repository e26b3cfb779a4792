"""Random worlds until so many texts were shown (`python -m tests.integration.readers 100000`): counts leaks."""

import asyncio
import sys
from itertools import count

from tests.integration.readers.world import run_world


async def main(wanted: int) -> int:
    shown = leaked = 0
    for seed in count(1_000):
        if shown >= wanted:
            break
        seen, leaks = await run_world(seed)
        shown += seen
        leaked += len(leaks)
        for leak in leaks:
            sys.stdout.write(f"seed {seed}: {leak}\n")
    sys.stdout.write(f"{shown} texts shown in {seed - 1_000} worlds, {leaked} leaks\n")
    return 1 if leaked else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]))))
