"""The kinds of files that Footnote reads, as people name them."""

from core.errors import BadInput

AUTO = "auto"  # the reader is chosen by suffix and content
READER_KINDS = (
    "markdown", "text", "html", "openapi", "channel", "foundry", "pdf", "csv", "spreadsheet", "docx", "odt", "rtf",
    "pptx", "epub", "rst", "org", "notebook", "canvas", "mail",
)  # fmt: skip
# Formats without a reader, by suffix: their name, and the formats to export them in.
UNREAD_FORMATS = {
    ".doc": ("Old Word", ".docx"), ".dot": ("Old Word", ".docx"), ".pages": ("Pages", "PDF or Word"),
    ".fodt": ("Flat OpenDocument", ".odt"), ".tex": ("LaTeX", "PDF"), ".ppt": ("Old PowerPoint", ".pptx"),
    ".odp": ("OpenDocument presentation", ".pptx"), ".key": ("Keynote", "PDF or PowerPoint"),
    ".numbers": ("Numbers", "Excel"), ".fods": ("Flat OpenDocument", ".ods"), ".msg": ("Outlook", ".eml"),
    ".azw3": ("Kindle", ".epub"), ".djvu": ("DjVu", "PDF"), ".ps": ("PostScript", "PDF"),
}  # fmt: skip


def parse_kind(name: str) -> str | None:
    """Return the kind of that name, None for AUTO. Raises BadInput, which lists the kinds, for any other name."""
    if name == AUTO:
        return None
    if name not in READER_KINDS:
        listed = f"{', '.join(READER_KINDS[:-1])} or {READER_KINDS[-1]}"
        raise BadInput(f"There is no kind {name!r} to read files as: use {AUTO}, {listed}")
    return name
