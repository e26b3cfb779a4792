"""The storage format of Confluence as HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.documents.readers.html import HtmlReader
from storage.sources.confluence import to_html


def shown(storage: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What our own reader makes of it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "a.html").write_text(to_html("Flood plan", storage), encoding="utf-8")
    return "\n".join(page.text for page in HtmlReader().read(folder / "a.html", folder).pages)


@pytest.mark.parametrize(
    ("storage", "text"),
    [
        ("<p>Close the gate.</p>", "Close the gate."),
        ("<h2>Who</h2><ul><li>Ann</li></ul>", "Ann"),
        (
            '<ac:structured-macro ac:name="info"><ac:parameter ac:name="title">Mind</ac:parameter>'
            "<ac:rich-text-body><p>The water rises.</p></ac:rich-text-body></ac:structured-macro>",
            "The water rises.",
        ),
        (
            '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sh</ac:parameter>'
            "<ac:plain-text-body><![CDATA[if a < b && c; then]]></ac:plain-text-body></ac:structured-macro>",
            "if a < b && c; then",
        ),
        ('<p>See <ac:link><ri:page ri:content-title="Gate rota" /></ac:link> first.</p>', "See Gate rota first."),
        (
            '<p>See <ac:link><ri:page ri:content-title="Gate rota" />'
            "<ac:plain-text-link-body><![CDATA[the rota]]></ac:plain-text-link-body></ac:link>.</p>",
            "See the rota.",
        ),
        (
            "<ac:task-list><ac:task><ac:task-id>7</ac:task-id><ac:task-status>complete</ac:task-status>"
            "<ac:task-body>Oil the gate</ac:task-body></ac:task></ac:task-list>",
            "[x] Oil the gate",
        ),
        ("<table><tbody><tr><th>Level</th></tr><tr><td>3 m</td></tr></tbody></table>", "3 m"),
        (
            '<p>It is <ac:structured-macro ac:name="status"><ac:parameter ac:name="title">OPEN</ac:parameter>'
            "</ac:structured-macro> now.</p>",
            "OPEN",
        ),
    ],
)
def test_what_people_see_is_what_is_read(storage: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert text in shown(storage, tmp_path_factory)


def test_what_confluence_makes_up_when_it_shows_a_page_is_left_out(tmp_path_factory: pytest.TempPathFactory) -> None:
    storage = (
        '<ac:structured-macro ac:name="toc"><ac:parameter ac:name="maxLevel">3</ac:parameter></ac:structured-macro>'
        '<p>Text <ac:emoticon ac:name="smile" />stays.</p><ac:image><ri:attachment ri:filename="a.png" /></ac:image>'
    )
    text = shown(storage, tmp_path_factory)
    assert "Text stays." in text and "3" not in text and "a.png" not in text


@given(
    st.text()
    | st.lists(st.sampled_from(["<ac:link>", "</ac:link>", "<![CDATA[", "]]>", "<p>", "a", "<ac:task>"])).map("".join)
)
def test_no_page_breaks_it(storage: str) -> None:
    assert "<h1>T &amp; &lt;b&gt;</h1>" in to_html("T & <b>", storage)
