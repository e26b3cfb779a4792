"""What one file may cost: the bounds that keep a foreign file from stopping a batch."""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Bounds of reading one file; a file beyond one of them is reported, the batch goes on."""

    seconds: float = 60.0
    memory_bytes: int = 1024 * MEBIBYTE  # of the child process; not enforced on macOS and Windows
    file_bytes: int = 100 * MEBIBYTE
    pages: int = 20_000
    recognised_pages: int = 500  # scanned pages of one file whose text is recognised; each may take `seconds`
    characters: int = 32_000_000  # of text in one document: about 12,000 printed pages
    result_bytes: int = 512 * MEBIBYTE  # of a document on its way back from the child process
