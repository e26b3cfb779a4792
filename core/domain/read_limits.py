"""Limits for reading one file, so that a foreign file can't stop a batch."""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024
# How many times as long as its processor time a file may take by the clock: with twenty processes on two cores, a good
# one takes ten times.
WALL_TIMES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Limits for one file. A file beyond one of them is reported, and the batch continues."""

    seconds: float = 60.0  # of processor time: on a busy machine a good file takes many times as long by the clock
    wall_seconds: float = 60.0 * WALL_TIMES  # by the clock, for endless waits; the only one on Windows
    memory_bytes: int = 1024 * MEBIBYTE  # of the child process; not enforced on macOS and Windows
    file_bytes: int = 100 * MEBIBYTE
    pages: int = 20_000
    recognised_pages: int = 500  # scanned pages of one file whose text is recognised; each may take `seconds`
    characters: int = 32_000_000  # of text in one document: about 12,000 printed pages
    result_bytes: int = 512 * MEBIBYTE  # of a document on its way back from the child process
