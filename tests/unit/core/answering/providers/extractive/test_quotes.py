"""Lists, table headers and summaries as quotes."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.answering.providers.extractive.lists import MOST_ITEMS, announcing, introduced, items_for
from core.answering.providers.extractive.quotes import (
    BLOCK_CHARACTERS,
    NOTHING_BELOW,
    READ_WITHIN,
    Quote,
    find_quotes,
    in_block,
    items_above,
    of_one_document,
    quotable,
)
from core.answering.providers.extractive.rows import QuotedRows, read_rows
from core.domain.corpus import SourcedPassage
from core.domain.passages import Span
from core.text.words import placed_lines
from tests.unit.core.answering.providers.extractive.small_library import FirstSentences, WordJudge, passages_of


def section(text: str, heading: str = "Section", path: str = "notes.md") -> SourcedPassage:
    """One passage; as the chunker cuts them, sentences begin behind the marks of lists."""
    source = passages_of(path, text, heading=heading)[0]
    spans = [
        Span(span.start + 2, span.end) if text[span.start : span.start + 2] in ("- ", "* ") else span
        for span in source.passage.sentences
    ]
    return replace(source, passage=replace(source.passage, sentences=tuple(spans)))


def listed(question: str, *passages: SourcedPassage, best: int = 0) -> list[str]:
    """The items, where the first passage's sentence number `best` is the one that answers best."""
    pages = [
        replace(item, passage=replace(item.passage, id=f"p{place}", page_id=f"page{place}"))
        for place, item in enumerate(passages)
    ]
    like = Quote(source=pages[0], sentences=(pages[0].passage.sentences[best],), logit=1.0, score=1.0)
    return [quote.text for quote in items_for(question, pages, like)]


MINUTES = (
    "**DECISION 4-1**: The ramp is rebuilt\n\n**DECISION 4-2**: The bell stays\n\n**DECISION 4-3**: Buoys are painted"
)
TALK = "**Ada**: The ramp is a decision\n\n**Bob**: Is it\n\n**Ada**: Yes\n\n**Bob**: So be it"


def test_paragraphs_that_begin_with_a_label_are_items():
    assert len(listed("Which decisions were made?", section(MINUTES, "Decisions"))) == 3


def test_people_who_speak_in_turn_are_no_list():
    assert listed("Which decisions were made?", section(TALK, "Decisions")) == []


def test_two_paragraphs_with_labels_are_no_list_yet():
    assert listed("Which decisions were made?", section(TALK.partition("\n\n**Ada**: Yes")[0], "Decisions")) == []


def test_short_lines_below_each_other_are_items():
    text = "Choose one of these:\nA pack of crabs\nA grumpy toad\nThe ghost of the reeve"
    assert listed("List all guests of the inn", section(text, "Guests"), best=1) == text.split("\n")[1:]


def test_definitions_are_listed_with_what_they_define():
    terms = {"Ebb": "A harbour tide that falls.", "Flood": "A harbour tide that rises.", "Slack": "No harbour tide."}
    text = "\n\n".join(["There are some.", *(f"{term}\n\n    {meaning}" for term, meaning in terms.items())])
    shown = listed("List the tides of the harbour", section(text, "Water"), best=2)
    assert shown == [f"{term}\n\n    {meaning}" for term, meaning in terms.items()]


def test_a_word_of_one_item_keeps_no_other_item_out():
    text = "Choose one of these:\nA pack of crabs\nA grumpy toad\nThe ghost of the reeve"
    assert listed("List all tame crabs", section(text, "Guests"), best=0) == text.split("\n")[1:]


def test_the_section_of_the_best_quotes_document_wins():
    best = section("14 May, in the loft", "Minutes", path="may.md")
    june = section("- Bo paints the loft\n- Ann leaves", "Actions", path="june.md")
    may = section("- Bo rows\n- Ann sings", "Actions", path="may.md")
    assert listed("List the actions of 14 May", best, june, may) == ["Bo rows", "Ann sings"]


def test_a_list_that_a_quote_announces_goes_on_behind_its_first_items():
    source = section("Each fare is in pence:\n- Child: four\n- Crew: one\n- Cart: nine\n\nPay the mate.", "Fares")
    intro, first, *_, last = source.passage.sentences
    quote = Quote(source=source, sentences=(intro, first), logit=1.0, score=1.0)
    assert [item.text for item in introduced(quote, [source])] == [quote.text, "Crew: one", "Cart: nine"]
    assert introduced(replace(quote, sentences=(last,)), [source]) == []


def test_a_quote_that_ends_with_a_tables_first_row_brings_the_others():
    source = section("The fares are in pence:\n\n| Who | Fare |\n|---|---|\n| Child | 4 |\n| Cart | 9 |", "Fares")
    intro, header, *_ = source.passage.sentences
    quote = Quote(source=source, sentences=(intro, header), logit=1.0, score=1.0)
    shown = [item.text for item in introduced(quote, [source])]
    assert shown == ["The fares are in pence:", "| Child | 4 |", "| Cart | 9 |"]


def test_an_image_is_no_quote():
    text = "![Harbour crane](crane.png)\nIt lifts coal."
    end = text.index("\n")
    source = section(text, "Port")
    passage = replace(source.passage, sentences=(Span(0, end), Span(end + 1, len(text))))
    assert quotable(replace(source, passage=passage)) == [1]


def test_paragraphs_of_prose_are_no_items():
    text = "The inn is old.\n\nNobody likes the inn.\n\nThe inn has a cellar.\n\nThe inn is shut."
    assert listed("List all guests", section(text, "Rooms")) == []


@pytest.mark.parametrize("heading", ["Present", "Participants", "Attendees", "Attendance"])
def test_who_attended_is_who_was_present(heading: str):
    people = section("* Ada Moss\n* Bob Reed\n* Cy Fern", heading)
    topics = section("* Ramp\n* Buoys\n* Bell", "Agenda")
    assert listed("Who attended?", topics, people) == ["Ada Moss", "Bob Reed", "Cy Fern"]


def test_the_first_row_of_a_table_does_not_choose_among_its_rows():
    text = "Endpoints\n| Method | Path | Summary |\n| GET | /boats | All boats |\n| GET | /fares | All fares |"
    assert len(listed("List all paths", section(text, "Endpoints"))) == 2


def test_words_of_the_title_do_not_choose_among_the_items():
    text = "- Talks (8): short, about Ferrycon\n- Walks (3): long\n- Meals (5): warm"
    assert len(listed("List the session kinds of Ferrycon", section(text, "Session kinds of Ferrycon"))) == 3


def test_where_a_chance_word_would_leave_one_item_what_they_are_called_decides():
    text = "- Talks (8): for a great number of people\n- Walks (3): long\n- Meals (5): warm"
    assert len(listed("List the kinds of session with the number of each", section(text, "Kinds of session"))) == 3


def test_what_tells_the_items_apart_still_chooses():
    text = "- Malice, inhaled\n- Ether, inhaled\n- Torpor, eaten"
    assert listed("List all inhaled poisons", section(text, "Poisons")) == ["Malice, inhaled", "Ether, inhaled"]


SENTENCES: Sequence[str] = (
    "A dazed sailor is barred from the watch.",
    "A fevered sailor is barred from the watch. He sleeps.",
    "A drunken sailor is barred from the bridge and the watch.",
    "A rested sailor steers.",
)


def test_without_any_list_sentences_that_say_the_same_of_others_are_one():
    found = listed("Name what makes a sailor barred from the watch", *(section(text) for text in SENTENCES))
    assert found == [SENTENCES[0], "A fevered sailor is barred from the watch.", SENTENCES[2]]


def test_two_such_sentences_and_those_of_another_document_are_none():
    other = section(SENTENCES[2], path="other.md")
    assert listed("Name what makes a sailor barred", section(SENTENCES[0]), section(SENTENCES[1]), other) == []


def test_a_list_is_no_longer_than_people_read():
    text = "\n".join(f"- Boat {number}" for number in range(40))
    assert len(listed("List all boats", section(text, "Boats"))) == MOST_ITEMS


ROWS = "| Linden | four |\n| Voss | seven |\n| Aldmere | nine |"


@pytest.mark.parametrize(
    ("heading", "columns"), [("Section", ("Linden", "four")), ("| Harbour | Crossings |", ("Harbour", "Crossings"))]
)
def test_a_passage_from_the_middle_of_a_table_has_its_columns_above_it(heading: str, columns: tuple[str, ...]) -> None:
    (source,) = passages_of("fares.xlsx", ROWS, heading=heading)
    quote = Quote(source=source, sentences=(source.passage.sentences[2],), logit=1.0, score=1.0)
    assert read_rows(quote) == QuotedRows(columns, (("Aldmere", "nine"),))


def test_a_table_further_down_in_such_a_passage_has_its_own_head_row() -> None:
    text = f"| the end | of one |\nBetween the two.\n{ROWS}"
    (source,) = passages_of("fares.xlsx", text)
    source = replace(source, passage=replace(source.passage, heading_path=("Fares", "| Harbour | Crossings |")))
    quote = Quote(source=source, sentences=(source.passage.sentences[-1],), logit=1.0, score=1.0)
    assert read_rows(quote) == QuotedRows(("Linden", "four"), (("Aldmere", "nine"),))


def test_a_record_of_a_csv_file_has_the_columns_that_its_page_names() -> None:
    (source,) = passages_of("fares.csv", 'Linden,412,"4,50"\nVoss,96,"12,80"', heading="Harbour, Crossings, Fare")
    source = replace(source, document=replace(source.document, kind="csv"))
    passage = replace(source.passage, sentences=(Span(0, 17), Span(18, 33)))
    quote = Quote(source=replace(source, passage=passage), sentences=passage.sentences[1:], logit=1.0, score=1.0)
    assert read_rows(quote) == QuotedRows(("Harbour", "Crossings", "Fare"), (("Voss", "96", "12,80"),))


@pytest.mark.parametrize("text", ["Linden\r412,x", "Linden, the pier\nand Voss", '"Linden,412', "x" * 200_000 + ",4"])
def test_a_record_that_can_not_be_read_is_no_row(text: str) -> None:
    (source,) = passages_of("fares.csv", text, heading="Harbour, Crossings, Fare")
    source = replace(source, document=replace(source.document, kind="csv"))
    passage = replace(source.passage, sentences=(Span(0, len(text)),))
    quote = Quote(source=replace(source, passage=passage), sentences=passage.sentences, logit=1.0, score=1.0)
    assert read_rows(quote) is None


def test_the_section_named_by_the_request_comes_before_one_whose_items_share_its_words() -> None:
    links = section("- https://harbour.org/council-dates\n- https://harbour.org/council-rules", "Reviews")
    people = section("- Ann Hill\n- Bo Lund\n- Cy Marsh", "Present")
    assert listed("Who attended the council?", links, people) == ["Ann Hill", "Bo Lund", "Cy Marsh"]


def scored(source: SourcedPassage, score: float) -> Quote:
    return Quote(source=source, sentences=source.passage.sentences[:1], logit=score, score=score)


def test_parts_are_rather_quoted_from_the_document_of_the_surest_one() -> None:
    (far,), (near,) = passages_of("far.md", "The lamp burns."), passages_of("near.md", "The lamp is lit.")
    first, sure = [scored(far, 3.0), scored(near, 2.0)], [scored(near, 5.0)]
    assert of_one_document([first, sure, []]) == [first[1], sure[0], None]


AGENDA = (
    "The board spoke about:\n- Bell tower\n    - Closing it, as the lease ran out.\n"
    "        - Ann writes the letter.\n- Slipway\n    - Pending."
)


def below_marks(source: SourcedPassage) -> SourcedPassage:
    """The passage as the chunker cuts it: sentences begin behind the marks of lists."""
    start = source.passage.span.start
    spans = [
        Span(span.start + 2, span.end) if source.passage.text.startswith("- ", span.start - start) else span
        for span in source.passage.sentences
    ]
    return replace(source, passage=replace(source.passage, sentences=tuple(spans)))


def quote_with(source: SourcedPassage, words: str) -> Quote:
    span = next(span for span in source.passage.sentences if words in source.passage.text[span.start : span.end])
    return Quote(source=source, sentences=(span,), logit=1.0, score=1.0)


@pytest.mark.parametrize(
    ("item", "above"),
    [
        ("Ann writes", ["The board spoke about:", "Bell tower", "Closing it, as the lease ran out."]),
        ("Pending", ["The board spoke about:", "Slipway"]),
        ("Slipway", ["The board spoke about:"]),
        ("The board", []),
    ],
)
def test_a_list_item_belongs_to_the_items_it_is_nested_in(item: str, above: list[str]) -> None:
    source = below_marks(passages_of("agenda.md", AGENDA)[0])
    found = items_above(source, quote_with(source, item).span)
    assert [source.passage.text[span.start : span.end] for span in found] == above


async def test_a_nested_item_is_judged_below_the_items_above_it() -> None:
    judge = WordJudge()
    source = below_marks(passages_of("agenda.md", AGENDA, heading="Agenda")[0])
    await find_quotes("What was decided about the bell tower?", [source], FirstSentences(), judge)
    assert any("Agenda > The board spoke about > Bell tower: Closing it" in text for text in judge.read)


PARAGRAPH = "The mill opens at ten. Dogs may come in. It shuts at six."


def test_a_quote_gets_the_rest_of_its_short_paragraph() -> None:
    source = passages_of("mill.md", f"{PARAGRAPH}\n\nThe pond is deep.")[0]
    assert in_block(quote_with(source, "Dogs"), lists=False).text == PARAGRAPH
    assert in_block(quote_with(source, "pond"), lists=False).text == "The pond is deep."


def test_a_long_paragraph_is_not_quoted_as_a_whole() -> None:
    source = passages_of("mill.md", f"{PARAGRAPH} {'The wheel turns. ' * (BLOCK_CHARACTERS // 16)}")[0]
    quote = quote_with(source, "Dogs")
    assert in_block(quote, lists=False) == quote


def test_a_list_is_quoted_as_a_whole_only_where_several_things_are_asked_for() -> None:
    source = below_marks(passages_of("goals.md", "- Mend the ramp\n- Paint a buoy")[0])
    quote = quote_with(source, "ramp")
    assert in_block(quote, lists=False) == quote
    assert in_block(quote, lists=True).text == "Mend the ramp\n- Paint a buoy"


async def test_lines_of_a_form_are_quoted_one_by_one() -> None:
    for text, together in (("Author: Ada\nOwner: Bo\nState: open", False), ("Ada writes.\nBo owns it.\nX", True)):
        source = passages_of("rfc.md", text)[0]
        found = await find_quotes("Who is the author?", [source], FirstSentences(), WordJudge(floor=0.5))
        assert any(len(quote.sentences) > 1 for quote in found.quotes) is together


async def test_a_passage_is_quoted_without_its_title_and_with_its_rows() -> None:
    source = passages_of("fares.md", text := "Fares\n| Adults | 12.50 |\nThe fare rose.", heading="Fares")[0]
    lines = tuple(Span(start, start + len(line)) for start, line in placed_lines(text))
    source = replace(source, passage=replace(source.passage, sentences=lines))
    found = await find_quotes("What is the fare?", [source], FirstSentences(), WordJudge(floor=0.5))
    texts = {quote.text for quote in found.quotes}
    assert text.removeprefix("Fares\n") in texts
    assert not any(quoted.startswith("Fares") for quoted in texts)


async def test_nothing_is_quoted_where_no_passage_may_answer() -> None:
    source = passages_of("mill.md", "The mill opens at ten. Dogs may come in.")[0]
    for least, may_answer in ((NOTHING_BELOW - 0.1, False), (NOTHING_BELOW + 0.1, True)):
        judge = WordJudge(floor=1 / (1 + math.exp(-least)))
        found = await find_quotes("What is the fee?", [source], FirstSentences(), judge)
        assert bool(found.quotes) is may_answer
        assert [passage for passage, _ in found.passages] == [source]
        assert (len(judge.read) > 1) is may_answer  # else its sentences are left unread


async def test_sentences_of_far_worse_passages_are_not_read() -> None:
    mill, barn = (passages_of(path, "The mill opens at ten.")[0] for path in ("mill.md", "barn.md"))
    for worse, is_read in ((READ_WITHIN + 1, False), (READ_WITHIN - 1, True)):
        judge = WordJudge(ceilings={barn.document.title: 1 / (1 + math.exp(worse - 3)), mill.document.title: 0.9526})
        found = await find_quotes("When does the mill open?", [mill, barn], FirstSentences(), judge)
        assert (barn.document in {quote.source.document for quote in found.quotes}) is is_read


async def test_the_document_and_the_page_that_were_talked_of_are_rather_meant() -> None:
    mill, barn = (passages_of(path, "It opens at ten.")[0] for path in ("mill.md", "barn.md"))
    hall, cellar = passages_of("house.md", "It opens at noon.", "It opens at night.")
    for passages in ([mill, barn], [hall, cellar]):
        for meant in passages:
            found = await find_quotes("When does it open?", passages, FirstSentences(), WordJudge(), talked_of=meant)
            assert found.quotes[0].source == meant


def test_the_sections_below_a_title_are_a_list() -> None:
    titles = ("1. New clients", "2. Hiring", "3. Learning")
    found = []
    for place, title in enumerate(titles):
        (source,) = passages_of("time.md", f"{title}\nDo it well.")
        passage = replace(
            source.passage,
            id=f"p{place}",
            heading_path=("Priorities for spare time", title),
            span=Span(place * 100, place * 100 + len(source.passage.text)),
            sentences=tuple(Span(s.start + place * 100, s.end + place * 100) for s in (Span(0, len(title)),)),
        )
        found.append(replace(source, passage=passage))
    like = Quote(source=found[1], sentences=found[1].passage.sentences, logit=1.0, score=1.0)
    assert [item.text for item in items_for("list the priorities for spare time", found, like)] == list(titles)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the impact of an outage?", "The impact of an outage is:"),
        ("Does an outage sink boats?", "Boats may sink"),
        ("What may happen?", "Boats may sink"),
    ],
)
def test_a_question_about_the_line_above_a_list_asks_for_all_of_it(question: str, text: str) -> None:
    source = below_marks(passages_of("outage.md", "The impact of an outage is:\n- Boats may sink\n- No light")[0])
    assert announcing(question, quote_with(source, "Boats")).text == text
