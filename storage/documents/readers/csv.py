"""Tables in plain text (CSV and its relatives): the page text is the file's text, so every quote is verbatim in it."""

from pathlib import Path

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.delimited import Delimited, read_delimited
from core.text.words import collapse, shorten
from storage.documents.office.sheets import SUFFIX, SheetForm, form_of
from storage.documents.texts.encodings import decode

FENCE = "```"
# Maximum characters of the columns' names, which head the page to give the cells of a passage a meaning.
TITLE_LENGTH = 240
# Rows of another width that one warning lists.
MAX_NAMED = 5


class CsvReader:
    """Reads `.csv`, `.tsv`, `.tab` and text files named `.xls`, in any encoding and with any delimiter, as one page.

    The rows are in a fenced block, so that each is a unit; `read_delimited` returns their cells.
    """

    kind = "csv"
    suffixes = frozenset({".csv", ".tsv", ".tab", SUFFIX})
    expects = "a table in plain text"

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() != SUFFIX or form_of(head) is SheetForm.PLAIN

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        table = read_delimited(decoded.text)
        if not any(map(str.isalnum, decoded.text)):
            raise ReadError("empty: no row of the table has text")
        page = ParsedPage(
            title=shorten(", ".join(filter(None, map(collapse, table.columns))), TITLE_LENGTH),
            text=to_fenced(decoded.text),
        )
        return ParsedDocument(
            title=path.stem, kind=self.kind, pages=(page,), warnings=(*decoded.warnings, *_warnings(table))
        )


def to_fenced(text: str) -> str:
    """Return the lines of a file as a block of code."""
    return f"{FENCE}\n{text.strip(chr(10))}\n{FENCE}"


def _warnings(table: Delimited) -> list[str]:
    width = len(table.records[table.header or 0].cells)
    above = table.header or 0
    ragged = [place for place, record in enumerate(table.records[above:], above + 1) if len(record.cells) != width]
    if not table.delimiter or not ragged:
        return []
    named = ", ".join(map(str, ragged[:MAX_NAMED]))
    more = f" and {len(ragged) - MAX_NAMED} more" if len(ragged) > MAX_NAMED else ""
    return [f"row{'s' * (len(ragged) > 1)} {named}{more} with another number of cells than the {width} above"]
