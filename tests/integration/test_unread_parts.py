"""What an extractor's bounds left out comes back from the child process."""

from core.domain.extracts import ExtractorInput, Unread
from core.domain.read_limits import ReadLimits
from storage.documents.child import ExtractTask, FoundInDocument
from storage.documents.sandbox import Sandbox
from tests.builders import build_document, build_pages


async def test_notes_that_are_too_long_come_back_as_unread() -> None:
    document = build_document("minutes.md")
    pages = build_pages(document, "Minutes of the ferry council. " * 70_000)
    sandbox = Sandbox(ReadLimits())
    try:
        given = ExtractorInput(document=document, pages=tuple(pages))
        result = await sandbox.extract(ExtractTask(extractor="meetings", given=given))
    finally:
        await sandbox.close()
    assert isinstance(result, FoundInDocument)
    assert result.found == ()
    assert result.unread == (Unread(page_number=1, reason="notes of more than 2,000,000 characters are not read"),)
