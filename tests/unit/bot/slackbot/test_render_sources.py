from bot.slackbot.rendering.answers import source_entry
from bot.slackbot.rendering.blocks import Row, plain_of, rich_text, stack
from tests.builders import build_citation
from tests.unit.bot.markdown_texts import GOOD


def words(entry: list[Row]) -> str:
    return plain_of(rich_text(*stack(entry)))


def test_an_entry_has_number_page_title_path_and_quote() -> None:
    citation = build_citation(number=12, page_number=5, heading_path=("Doors", "Keys"), quote="under\n  the mat")
    entry = source_entry(citation, GOOD, is_repeated=False)
    assert words(entry) == "[12] Page 5 of “Guide” > Doors > Keys\n“under the mat”"
    assert entry[0].pieces[1] == {"type": "link", "url": GOOD, "text": "Page 5 of “Guide”"}
    assert [row.is_quoted for row in entry] == [False, True]


def test_an_entry_that_a_part_before_had_is_its_heading() -> None:
    entry = source_entry(build_citation(), None, is_repeated=True)
    assert words(entry) == "[1] Page 1 of “Guide” (quoted above)"


def test_an_entry_without_a_quote_is_its_heading() -> None:
    assert words(source_entry(build_citation(quote=" "), None, is_repeated=False)) == "[1] Page 1 of “Guide” > Keys"


def test_titles_and_quotes_are_literal() -> None:
    citation = build_citation(document_title="<!channel> [a](https://evil.example)", quote="&lt;!here&gt; *b*")
    said = words(source_entry(citation, None, is_repeated=False))
    assert "“<!channel> [a](https://evil.example)”" in said
    assert "“&lt;!here&gt; *b*”" in said
