"""EPUB books: chapters are pages, in reading order, under the titles of the contents."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.epub import EpubReader
from tests.unit.storage.documents.epub_files import build_epub, entry


def read(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "book.epub"
    path.write_bytes(data)
    return EpubReader().read(path, tmp_path)


def titles(document: ParsedDocument) -> list[str]:
    return [page.title for page in document.pages]


def chapter(number: int, text: str = "It rained.") -> str:
    return f'<section epub:type="chapter"><h2>Chapter {number}</h2><p>{text}</p></section>'


def test_pages_follow_the_spine_and_not_the_names_of_files(tmp_path: Path) -> None:
    files = {"b.xhtml": chapter(2), "a.xhtml": chapter(1)}
    document = read(build_epub(files, order=["a.xhtml", "b.xhtml"]), tmp_path)
    assert document.title == "The Ferry"
    assert titles(document) == ["Chapter 1", "Chapter 2"]


def test_a_title_of_the_contents_says_more_than_the_number_over_the_chapter(tmp_path: Path) -> None:
    files = {
        "1.xhtml": "<hgroup><h2>I</h2><p>A Letter</p></hgroup><p>Dear Ann.</p>",
        "2.xhtml": "<h2>II</h2><p>No.</p>",
    }
    document = read(build_epub(files, entry("I: A Letter", "1.xhtml") + entry("II", "2.xhtml")), tmp_path)
    assert titles(document) == ["I: A Letter", "II"]
    assert document.pages[0].text == "I\n\nA Letter\n\nDear Ann."
    assert [heading.title for heading in document.pages[0].headings] == ["I: A Letter"]


def test_a_chapter_that_says_more_than_the_contents_names_its_page(tmp_path: Path) -> None:
    files = {"1.xhtml": "<h2>Chapter 1. Loomings</h2><p>Call me.</p>"}
    document = read(build_epub(files, entry("Chapter 1", "1.xhtml")), tmp_path)
    assert titles(document) == ["Chapter 1. Loomings"]


def test_what_frames_the_book_is_left_out_and_what_precedes_it_comes_last(tmp_path: Path) -> None:
    files = {
        "cover.xhtml": '<body epub:type="cover"><p>Cover</p></body>',
        "title.xhtml": '<section epub:type="titlepage"><h1>The Ferry</h1><p>by Ann</p></section>',
        "imprint.xhtml": '<section epub:type="imprint"><p>Printed here.</p></section>',
        "dedication.xhtml": '<section epub:type="dedication"><h2>Dedication</h2><p>To Bo.</p></section>',
        "1.xhtml": chapter(1),
        "2.xhtml": chapter(2),
        "colophon.xhtml": '<section epub:type="colophon"><p>Set in type.</p></section>',
    }
    document = read(build_epub(files), tmp_path)
    assert titles(document) == ["Chapter 1", "Chapter 2", "Dedication"]


def test_the_guide_of_an_older_book_marks_its_title_page_too(tmp_path: Path) -> None:
    files = {"t.xhtml": "<p>The Ferry, a novel in two parts</p>", "1.xhtml": chapter(1)}
    document = read(build_epub(files, guide='<reference type="title-page" href="t.xhtml"/>'), tmp_path)
    assert titles(document) == ["Chapter 1"]


def test_parts_stand_above_their_chapters(tmp_path: Path) -> None:
    files = {"p.xhtml": "<h1>Part One</h1>", "1.xhtml": chapter(1), "2.xhtml": chapter(2)}
    contents = entry("Part One", "p.xhtml", entry("Chapter 1", "1.xhtml") + entry("Chapter 2", "2.xhtml"))
    document = read(build_epub(files, contents), tmp_path)
    assert titles(document) == ["Chapter 1", "Chapter 2"]
    assert [page.heading_path for page in document.pages] == [("Part One",)] * 2
    assert document.pages[0].text.startswith("Part One\n\nChapter 1")


def test_sections_of_a_chapter_are_headings_of_its_page(tmp_path: Path) -> None:
    files = {"1.xhtml": "<h1>Fares</h1><p>All.</p><h2 id='a'>Adults</h2><p>4</p><h2 id='c'>Children</h2><p>2</p>"}
    inner = entry("Adults", "1.xhtml#a") + entry("Children", "1.xhtml#c")
    files["2.xhtml"] = "<h1>Times</h1><p>Seven.</p>"
    document = read(build_epub(files, entry("Fares", "1.xhtml", inner) + entry("Times", "2.xhtml")), tmp_path)
    assert titles(document) == ["Fares", "Times"]
    assert [heading.title for heading in document.pages[0].headings] == ["Fares", "Adults", "Children"]


def test_chapters_of_one_file_are_pages_and_a_chapter_of_two_files_is_one(tmp_path: Path) -> None:
    files = {
        "a.xhtml": '<div id="one"><h2>One</h2><p>First.</p></div><div id="two"><h2>Two</h2><p>Second.</p></div>',
        "b.xhtml": "<p>Still the second.</p>",
    }
    document = read(build_epub(files, entry("One", "a.xhtml#one") + entry("Two", "a.xhtml#two")), tmp_path)
    assert [(page.title, page.text) for page in document.pages] == [
        ("One", "One\n\nFirst."),
        ("Two", "Two\n\nSecond.\n\nStill the second."),
    ]
    assert document.pages[1].anchors == (("two", 0), ("b", len("Two\n\nSecond.\n\n")))


def test_footnotes_stay_and_their_numbers_are_bracketed(tmp_path: Path) -> None:
    body = (
        '<h2>One</h2><p>It rained<a epub:type="noteref" href="#n1">1</a>.</p>'
        '<aside epub:type="footnote" id="n1" hidden="hidden"><p>1. Hard.</p></aside>'
    )
    document = read(build_epub({"1.xhtml": body}), tmp_path)
    assert document.pages[0].text == "One\n\nIt rained[1].\n\n1. Hard."


def test_numbers_of_printed_pages_are_no_text(tmp_path: Path) -> None:
    body = '<h2>One</h2><p>It <span epub:type="pagebreak" id="p7">7</span>rained.</p>'
    assert read(build_epub({"1.xhtml": body}), tmp_path).pages[0].text == "One\n\nIt rained."


def test_an_older_table_of_contents_is_read(tmp_path: Path) -> None:
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint>'
        '<navLabel><text>The start</text></navLabel><content src="1.xhtml"/></navPoint></navMap></ncx>'
    )
    document = read(build_epub({"1.xhtml": "<p>It rained.</p>"}, extra={"EPUB/toc.ncx": ncx}), tmp_path)
    assert titles(document) == ["The start"]


def test_the_licence_of_project_gutenberg_is_left_out(tmp_path: Path) -> None:
    files = {
        "0.xhtml": "<p>The Project Gutenberg eBook of X</p><p>*** START OF THE PROJECT GUTENBERG EBOOK X ***</p>",
        "1.xhtml": chapter(1),
        "9.xhtml": "<p>*** END OF THE PROJECT GUTENBERG EBOOK X ***</p><h2>THE FULL LICENSE</h2><p>Much.</p>",
    }
    document = read(build_epub(files), tmp_path)
    assert [page.text for page in document.pages] == ["Chapter 1\n\nIt rained."]


def test_a_book_without_contents_is_cut_at_its_headings(tmp_path: Path) -> None:
    document = read(build_epub({"1.xhtml": "<h1>A</h1><p>a</p><h1>B</h1><p>b</p>"}), tmp_path)
    assert titles(document) == ["A", "B"]


def test_a_book_of_pictures_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="are its pages pictures"):
        read(build_epub({"1.xhtml": '<img src="1.png"/>'}), tmp_path)


def test_a_protected_book_says_what_to_do(tmp_path: Path) -> None:
    encryption = (
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:EncryptionMethod '
        'Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><e:CipherData><e:CipherReference URI="EPUB/1.xhtml"/>'
        "</e:CipherData></e:EncryptedData></encryption>"
    )
    data = build_epub({"1.xhtml": chapter(1)}, extra={"META-INF/encryption.xml": encryption})
    with pytest.raises(ReadError, match="protected"):
        read(data, tmp_path)


def test_entities_that_multiply_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><container>&b;</container>'
    with pytest.raises(ReadError, match="defines entities"):
        read(build_epub({"1.xhtml": chapter(1)}, extra={"META-INF/container.xml": bomb}), tmp_path)


def test_a_zip_without_a_package_is_no_epub(tmp_path: Path) -> None:
    data = build_epub({}, extra={"META-INF/container.xml": "<container/>"}).replace(b"book.opf", b"book.txt")
    with pytest.raises(ReadError, match="not an EPUB"):
        read(data, tmp_path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.text(alphabet="ab<>/h1p2 =\"'&;#i\n", max_size=80),
    contents=st.text(alphabet='<>/liaohref="1.x#tml ', max_size=80),
    ncx=st.text(alphabet="<>/navMpPoit &;", max_size=40),
)
def test_junk_inside_of_a_book_gives_a_book_or_a_reason(body: str, contents: str, ncx: str, tmp_path: Path) -> None:
    files = {"1.xhtml": body, "2.xhtml": f"<h1 id='a'>x</h1>{body}"}
    data = build_epub(files, entry("A", "2.xhtml#a") + contents, extra={"EPUB/toc.ncx": ncx})
    try:
        document = read(data, tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        assert all(page.text.strip() for page in document.pages)
        assert all(0 <= item.start < len(page.text) for page in document.pages for item in page.headings)
