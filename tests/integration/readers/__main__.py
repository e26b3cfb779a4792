"""Random worlds: count leaks in so many texts, or take out each filter in turn.

`python -m tests.integration.readers 100000 [FIRST SEED]`, or `python -m tests.integration.readers mutations`.
"""

import asyncio
import sys
from itertools import count

import pytest

from tests.integration.readers.acts import run_world
from tests.integration.readers.test_readers import FILTERS, first_leak

MOST_WORLDS = 300  # for each filter that is taken out


async def look(wanted: int, first: int = 1_000) -> int:
    shown = leaked = 0
    for seed in count(first):
        if shown >= wanted:
            break
        seen, leaks = await run_world(seed)
        shown += seen
        leaked += len(leaks)
        for leak in leaks:
            sys.stdout.write(f"seed {seed}: {leak}\n")
    sys.stdout.write(f"{shown} texts shown in {seed - first} worlds, {leaked} leaks\n")
    return 1 if leaked else 0


async def mutate() -> int:
    """Print the first leak without each filter; return the number of filters without which nothing leaks."""
    missed = 0
    for take_out in FILTERS:
        with pytest.MonkeyPatch.context() as patch:
            take_out(patch)
            found = await first_leak(MOST_WORLDS)
        missed += found is None
        said = f"in world {found[0]}, {found[1].what}" if found else f"no leak in {MOST_WORLDS} worlds"
        sys.stdout.write(f"{take_out.__name__}: {said}\n")
        sys.stdout.flush()
    return missed


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(asyncio.run(mutate() if given == ["mutations"] else look(*map(int, given))))
