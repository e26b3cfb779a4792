"""The contract of Reader: the same for every kind of file, whatever stands in it."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.ports.documents import Reader
from core.text.words import collapse
from storage.documents.base import HEAD_BYTES, build_readers, find_reader
from tests.unit.storage.documents.epub_files import build_epub, entry
from tests.unit.storage.documents.form_files import Filled, build_form
from tests.unit.storage.documents.office.test_text_sheets import XML as SHEET_XML
from tests.unit.storage.documents.office_samples import SAMPLES as OFFICE_SAMPLES
from tests.unit.storage.documents.pdf_files import build_pdf

NOTE = (
    "---\ntitle: Ferry\naliases: [boat, 'the ferry']\n---\n"
    "# Ferry\n\nIt sails at **seven**, "
    "see [[Harbour#Pier 2|pier]]. ^times\n\n## Fares\n\n| who | fare |\n|---|---|\n| adult | 4 |\n\n"
    "## Fares\n\nSpäter mehr. 日本語\n"
)
PAGE = (
    "<html><head><title>Ferry</title></head><body><nav>Home</nav><h1>Ferry</h1><p>It sails at <b>seven</b>.</p>"
    "<h2 id=fares>Fares</h2><table><tr><th>who<th>fare<tr><td>adult<td>4</table><h2>Fares</h2><p>Spä&shy;ter</body>"
)
JOURNAL = {
    "_id": "a" * 16,
    "name": "Keep",
    "pages": [
        {
            "_id": "b" * 16,
            "name": "Gate",
            "text": {"format": 1, "content": "<h2>Gate</h2><p>See @UUID[.cccccccccccccccc]{Hall} [[/r 2d6]].</p>"},
            "system": {"trap": {"label": "Pit", "text": "Ten feet deep."}},
        },
        {"_id": "c" * 16, "name": "Hall", "text": {"format": 2, "markdown": "# Hall\n\n@Embed[.bbbbbbbbbbbbbbbb]"}},
    ],
}
NOVEL = "Title: The Ferry\n\nCHAPTER I\n\nIt rained.\n\nCHAPTER II\n\nIt stopped.\n\nCHAPTER III\n\nThe boat came.\n"
YAML = """name: Keep
_id: aaaaaaaaaaaaaaaa
pages:
  - name: Gate
    _key: '!journal.pages!aaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbb'
    text: {content: '<p>The gate is shut.</p>', format: 1}
"""
KEPT = """<!-- footnote: kept answers -->

# Kept answers

<!-- kept: https://chat.example/1 -->
## When does the ferry sail?

At seven.

# Not a page

<!-- kept: https://chat.example/2 -->
## And back?

At nine: später.
"""
BOOK = build_epub(
    {
        "1.xhtml": '<h2>Rain</h2><p>It rained<a epub:type="noteref" href="#n">1</a>.</p><aside id="n">1. Hard.</aside>',
        "2.xhtml": "<h2>Sun</h2><p>Später mehr. 日本語</p><h3>Night</h3><p>Dark.</p>",
    },
    entry("Rain", "1.xhtml") + entry("Sun", "2.xhtml"),
)
API = """openapi: 3.0.0
info: {title: Ferry, description: Später mehr.}
servers: [{url: https://ferry.example}]
paths:
  /times/{pier}:
    get:
      summary: When boats sail
      parameters: [{name: pier, in: path, schema: {type: string}}]
      responses: {'200': {description: Times, content: {text/plain: {schema: {$ref: '#/components/schemas/Times'}}}}}
components: {schemas: {Times: {type: array, items: {type: string}}}}
"""
RST = (
    "Ferry\n=====\n\nIt sails at **seven** [#]_.\n\n.. [#] Mostly.\n\n.. _fares:\n\nFares\n-----\n\n"
    "=====  ====\nwho    fare\n=====  ====\nadult  4\n=====  ====\n\n.. note:: Später mehr. 日本語\n"
)
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Ferry\n", "\n", "It sails at **seven**.\n"]},
        {
            "cell_type": "code",
            "source": "print('später')",
            "outputs": [{"output_type": "stream", "text": ["später\n"]}],
        },
        {"cell_type": "markdown", "source": "## Fares\n\n日本語"},
    ],
    "metadata": {"language_info": {"name": "python"}},
}
CANVAS = {
    "nodes": [
        {"id": "a", "type": "group", "label": "Später", "x": 0, "y": 0, "width": 400, "height": 400},
        {
            "id": "b",
            "type": "text",
            "text": "# Ferry\n\nIt sails at seven.",
            "x": 10,
            "y": 10,
            "width": 90,
            "height": 9,
        },
        {"id": "c", "type": "file", "file": "Fares.md", "x": 500, "y": 0, "width": 90, "height": 90},
    ],
    "edges": [{"id": "d", "fromNode": "b", "toNode": "c", "label": "costs"}],
}
MAIL = (
    b"From: Ann <a@ferry.example>\nSubject: =?utf-8?q?Sp=C3=A4ter?=\nContent-Type: multipart/mixed; boundary=b\n\n"
    b"--b\nContent-Type: text/html; charset=utf-8\n\n<h1>Ferry</h1><p>Sp\xc3\xa4ter mehr.</p>\n"
    b"--b\nContent-Disposition: attachment; filename=plan.pdf\nContent-Transfer-Encoding: base64\n\naGk=\n--b--\n"
)
DAY = [
    {"type": "message", "ts": "1709542800.0001", "user": "U1", "text": "When does it sail?"},
    {"type": "message", "ts": "1709542860.0", "thread_ts": "1709542800.0001", "user": "U2", "text": "Später.\nSeven."},
]
SAMPLES = {
    "kept.md": KEPT.encode(),
    "ferry.md": NOTE.encode(),
    "ferry.mdx": NOTE.encode("utf-16"),
    "ferry.html": PAGE.encode(),
    "ferry.txt": NOVEL.encode(),
    "keep.json": json.dumps(JOURNAL).encode(),
    "keep.yml": YAML.encode(),
    "ferry.pdf": build_pdf([[(50, 700, "The ferry sails at seven.")], [(50, 700, "Fares")]], outline=[("Fares", 1)]),
    "form.pdf": build_form(
        [(50, 700, "Name:")], [Filled((90, 690, 200, 710), "Später"), Filled((9, 9, 19, 19), "On", "box")]
    ),
    "ferry.epub": BOOK,
    "ferry.yaml": API.encode(),
    "ferry.rst": RST.encode(),
    "ferry.org": "#+TITLE: Ferry\n* Times :boats:\nSpäter mehr.\n** Winter\n- 日本語\n* Fares\n| a | 4 |\n".encode(),
    "ferry.ipynb": json.dumps(NOTEBOOK).encode(),
    "ferry.canvas": json.dumps(CANVAS).encode(),
    "ferry.eml": MAIL,
    "ferry.mbox": b"".join(b"From a@ferry.example Mon Mar  4 09:00:00 2024\n" + MAIL + b"\n" for _ in range(2)),
    "page.xls": PAGE.encode(),
    "rows.xls": b"who\tfare\nadult\t4\n",
    "sheet.xls": SHEET_XML.encode(),
    "2024-03-04.json": json.dumps(DAY).encode(),
    **OFFICE_SAMPLES,
}

samples = pytest.mark.parametrize("name", SAMPLES)


def read(path: Path) -> ParsedDocument:
    return reader_of(path).read(path, path.parent)


def reader_of(path: Path) -> Reader:
    return find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers())


def check(document: ParsedDocument) -> None:
    """What holds for every document a reader gives."""
    assert document.title.strip()
    assert document.pages
    numbers = [page.number or place for place, page in enumerate(document.pages, 1)]
    assert numbers == sorted(set(numbers))
    for page in document.pages:
        assert page.text.strip()
        assert page.text.encode("utf-8")
        assert not {"\0", "\r"} & set(page.text)
        starts = [heading.start for heading in page.headings]
        assert starts == sorted(starts)
        for heading in page.headings:
            assert 0 <= heading.start < len(page.text)
            assert heading.start == 0 or page.text[heading.start - 1] in "\n\t"
            assert 1 <= heading.level <= 6
            assert heading.title.strip()
        assert all(0 <= place < len(page.text) for _, place in page.anchors)


@samples
def test_every_kind_of_file_is_read_by_the_reader_of_its_kind(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SAMPLES[name])
    document = read(path)
    check(document)
    assert document.kind == reader_of(path).kind


@samples
def test_reading_twice_gives_the_same_document(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SAMPLES[name])
    assert read(path) == read(path)


@samples
def test_the_title_of_a_heading_stands_at_its_place(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SAMPLES[name])
    document = read(path)
    for page in document.pages:
        for heading in page.headings:
            line = collapse(page.text[heading.start :].split("\n\n")[0]).lstrip("# ")
            assert line.startswith(heading.title)


@samples
def test_a_file_without_text_is_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b" \n\t\n")
    with pytest.raises(ReadError, match=r"empty|not a"):
        read(path)


@pytest.mark.parametrize("reader", build_readers(), ids=lambda reader: reader.kind)
def test_a_reader_names_what_it_reads(reader: Reader) -> None:
    assert reader.kind
    assert reader.expects
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in reader.suffixes)


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A file cut off, with foreign bytes in it, joined from two halves, or written in another encoding."""
    kind = draw(st.sampled_from(["cut", "spliced", "joined", "transcoded", "junk"]))
    place = draw(st.integers(0, len(data)))
    if kind == "cut":
        return data[:place]
    if kind == "spliced":
        return data[:place] + draw(st.binary(max_size=40)) + data[place + draw(st.integers(0, 40)) :]
    if kind == "joined":
        return data[place:] + data[:place]
    if kind == "transcoded":
        encoding = draw(st.sampled_from(["utf-16", "utf-16-be", "utf-32", "cp932", "latin-1", "utf-7"]))
        return data.decode("utf-8", "replace").encode(encoding, "replace")
    return draw(st.binary(max_size=200)) + data[place:]


@samples
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_junk_gives_a_document_or_a_reason_and_nothing_else(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data.draw(damaged(SAMPLES[name])))
    try:
        document = read(path)
    except ReadError as error:
        assert str(error).strip()
    else:
        check(document)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet="ab \n#-=>`*[]|^\\\t1.)<é😀", max_size=300))
def test_every_page_of_a_note_is_a_piece_of_its_source(text: str, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        document = read(path)
    except ReadError:
        assert not text.strip() or text.startswith("---")
    else:
        check(document)
        assert all(page.text in text for page in document.pages)
        if not text.startswith("---"):
            assert collapse("\n".join(page.text for page in document.pages)) == collapse(text)
