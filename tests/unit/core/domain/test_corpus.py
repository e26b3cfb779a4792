"""Addresses of pages."""

from dataclasses import replace

import pytest

from core.domain.footnotes import fill_template, page_links, web_address
from tests.builders import build_document, build_pages


def test_a_template_gets_path_page_and_anchor_quoted() -> None:
    filled = fill_template("https://x.example/{path}?p={page}#{anchor}", "a b/ü.md", 3, "On call & more")

    assert filled == "https://x.example/a%20b/%C3%BC.md?p=3#On%20call%20%26%20more"


def test_a_template_for_a_foundry_server_gets_what_its_own_link_holds() -> None:
    link = "@UUID[JournalEntry.keep.JournalEntryPage.hall]"

    assert fill_template("https://vtt.example/game#{uuid}", "k.json", 1, "Hall", link) == (
        "https://vtt.example/game#JournalEntry.keep.JournalEntryPage.hall"
    )


def test_where_there_is_no_foundry_link_its_template_gives_none() -> None:
    assert fill_template("https://vtt.example/game#{uuid}", "k.json", 1, "Hall", None) is None
    assert fill_template("https://vtt.example/game#{uuid}", "k.json", 1, "Hall", "obsidian://open?x") is None


def test_a_document_without_address_has_no_link() -> None:
    document = build_document()

    assert page_links(document, build_pages(document, "text")[0]) == (None, None)


def test_a_page_with_a_web_address_of_its_own_has_that_one() -> None:
    document = build_document(url="https://x.example/{page}")
    page = build_pages(document, "text")[0]

    assert page_links(document, replace(page, deep_link="https://chat.example/9")) == ("https://chat.example/9", None)
    assert page_links(document, replace(page, deep_link="@UUID[x]")) == ("https://x.example/1", "@UUID[x]")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/a b", None),
        (" https://example.org/a ", "https://example.org/a"),
        ("http://example.org/{path}", "http://example.org/%7Bpath%7D"),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("https:///nohost", None),
        ("http://[broken", None),
        ("", None),
        (None, None),
    ],
)
def test_only_web_addresses_become_links(url: str | None, expected: str | None) -> None:
    assert web_address(url) == expected
