"""Decides, from file stamps alone, what an ingest has to do. Reads no file."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.domain.corpus import Document
from core.domain.ingest_report import Failure
from storage.documents.files import Listing, SourceFile, stamp_of


@dataclass(slots=True)
class Plan:
    """What to do with the files and the stored documents of a source."""

    to_read: list[tuple[SourceFile, Document | None]] = field(default_factory=list)  # with what is stored of the file
    unchanged: int = 0
    still_failed: list[Failure] = field(default_factory=list)  # unchanged since they could not be read
    vanished: list[Document] = field(default_factory=list)

    @property
    def has_work(self) -> bool:
        return bool(self.to_read or self.vanished)


def build_plan(
    listing: Listing,
    stored: Sequence[Document],
    root: Path,
    *,
    only: Sequence[str] | None,
    force: bool,
    kind: str | None = None,
    retried: Container[str] = (),
) -> Plan:
    """`stored` are all documents of the source; those outside the sub-paths `only` are left alone.

    With `kind`, files that failed or were read as another kind are read again, changed or not; so are those that failed
    for one of the reasons `retried`.
    """
    plan = Plan()
    by_path = {document.path: document for document in stored}
    for file in listing.files:
        document = by_path.get(file.path)
        if force or document is None or document.failed_reason in retried or _is_stale(document, file, root, kind):
            plan.to_read.append((file, document))
        elif document.failed_reason is not None:
            plan.still_failed.append(Failure(path=file.path, reason=document.failed_reason))
        else:
            plan.unchanged += 1
    present = {file.path for file in listing.files}
    plan.vanished = [
        document
        for document in stored
        if document.path not in present
        and (only is None or is_under(document.path, only))
        and not is_under(document.path, listing.unlisted)
    ]
    return plan


def _is_stale(document: Document, file: SourceFile, root: Path, kind: str | None) -> bool:
    if kind is not None and (document.kind != kind or document.failed_reason is not None):
        return True
    return document.stamp != stamp_of(file, root, document.depends_on)


def is_under(path: str, folders: Iterable[str]) -> bool:
    """Whether `path` is one of `folders` or lies in one of them; "" is the root."""
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)
