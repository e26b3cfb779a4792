"""The file of a thread of a live channel."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.domain.channels import ChannelMessage, path_of, write_thread
from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.base import build_readers, find_reader, has_reader
from storage.documents.readers.live_channel import LiveChannelReader
from tests.builders import NOON

ASKED = ChannelMessage(
    id="1",
    root="1",
    author="42",
    author_name="Ines",
    said_at=NOON,
    begun_at=NOON,
    text="Where is the łódź?",
    link="https://chat.example/7/1",
)
ANSWERED = replace(ASKED, id="2", author_name="Ada", said_at=NOON + timedelta(hours=1), text="# In the shed")


def read(folder: Path, text: str) -> ParsedDocument:
    path = folder / path_of("1")
    path.write_text(text, "utf-8")
    return LiveChannelReader().read(path, folder)


def test_each_message_is_a_page_named_by_who_said_it_and_when(tmp_path: Path) -> None:
    document = read(tmp_path, write_thread("#boats", [ASKED, ANSWERED]))
    assert document.title == f"Said in #boats by Ines, {NOON:%Y-%m-%d}"
    assert [(page.title, page.text, page.heading_path) for page in document.pages] == [
        (f"Said in #boats by Ines, {NOON:%Y-%m-%d %H:%M}", "Where is the łódź?", ()),
        (f"Said in #boats by Ada, {ANSWERED.said_at:%Y-%m-%d %H:%M}", "# In the shed", ("Where is the łódź?",)),
    ]
    assert {page.deep_link for page in document.pages} == {ASKED.link}


def test_no_suffix_leads_to_it(tmp_path: Path) -> None:
    path = tmp_path / path_of("1")
    assert not has_reader(path)
    with pytest.raises(ReadError, match="no reader"):
        find_reader(path, write_thread("#boats", [ASKED]).encode(), build_readers())


@pytest.mark.parametrize("text", ['{"channel": ', '{"channel": "a"}', '{"channel": "a", "messages": [1]}'])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="not a thread of a live channel"):
        read(tmp_path, text)
