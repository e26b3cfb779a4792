"""Reads a sample as the service does: written to a file, read by its reader, cut to pages, extracted."""

from pathlib import Path
from typing import Any

from core.domain.corpus import Document
from core.domain.extracts import ExtractorInput, Found
from storage.documents.base import HEAD_BYTES, build_readers, find_reader
from storage.documents.chunking import chunk
from storage.documents.extractors.meetings import MeetingsExtractor
from tests.unit.storage.documents.extractors.meeting_samples import Sample


def to_input(name: str, text: str, folder: Path) -> ExtractorInput:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_input(path, folder)


def read_input(path: Path, folder: Path) -> ExtractorInput:
    parsed = find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers()).read(path, folder)
    pages = chunk(parsed, "local", "document").pages
    document = Document(
        id="document",
        workspace="local",
        source_id="source",
        source="notes",
        path=path.relative_to(folder).as_posix(),
        title=parsed.title,
        kind=parsed.kind,
        revision=pages[0].revision,
    )
    return ExtractorInput(document=document, pages=pages, path=path)


def find_meetings(sample: Sample, folder: Path) -> list[Found]:
    given = to_input(sample.name, sample.text, folder)
    extractor = MeetingsExtractor()
    return list(extractor.extract(given)) if extractor.reads(given.document) else []


def to_line(action: dict[str, Any]) -> str:
    """An action item as samples write it."""
    due = f" @ {action['due_date']}" if action["due_date"] else ""
    done = {True: " [x]", False: " [ ]", None: ""}[action["done"]]
    return f"{action['owner'] or ''} > {action['description']}{due}{done}".strip()
