"""One answer is the same answer wherever it is read: on Discord, on Slack, on the web page and in the terminal."""

import html
import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.presentation.sources import sources_of
from core.answering.answers.sentences import say
from core.answering.answers.suggestions import LONGEST, MAX_SUGGESTIONS
from core.domain.answer import Answer, AnswerStatus, Reference, ReferenceType
from core.domain.passages import Span
from tests.builders import build_citation
from tests.contract.renderings import PLATFORMS, Shown, link_to
from tests.unit.bot.any_answers import build_answer, unhurried
from tests.unit.bot.markdown_texts import HOSTILE, SCRIPTS, bare

_SHORTEST_CUT = 70  # characters of a quote that every platform shows

CASES = {
    "short": build_answer(),
    "nothing said": build_answer("", 0),
    "not found": build_answer(
        "The documents do not say.",
        0,
        status=AnswerStatus.NOT_FOUND,
        references=(Reference(type=ReferenceType.SEARCH, label="Guide", document="guide.md"),),
        data_gaps=("the price",),
    ),
    "stopped and partial": build_answer(f"So far [1]. {say('partial')}", status=AnswerStatus.STOPPED, partial=True),
    "an error that was not stored": build_answer("It broke.", 0, status=AnswerStatus.ERROR, message_id=""),
    "refused": build_answer("Not here.", 0, status=AnswerStatus.REFUSED),
    "choices of a menu": build_answer("Which?", 0, status=AnswerStatus.CLARIFY, choices=("Red", "<@U1> & co", "Green")),
    "choices too long for a menu": build_answer(
        "Which?", 0, status=AnswerStatus.CLARIFY, choices=("A document with a long name " * 6, "Short")
    ),
    "more choices than menus hold": build_answer(
        "Which?", 0, status=AnswerStatus.CLARIFY, choices=tuple(f"Document {n}" for n in range(450))
    ),
    "suggestions": build_answer(suggestions=("And the door?", "Why *so*?", "What of " + "the spare key " * 8 + "?")),
    "markdown": build_answer(
        "# Keys\n\n- under the **mat** [1]\n  - or in the *pot* [2]\n\n> quoted [3]\n\n```python\nk = d\n```\nend", 3
    ),
    "a table": build_answer("| Key | Where |\n|---|--:|\n| spare | mat [1] |\n| own | pot [2] |\n\nNo others.", 2),
    "a table of 500 rows": build_answer(
        "Fares [1]:\n\n"
        + "\n".join(["| Boat | Fare |", "|---|--:|", *(f"| Boat {n} | {n} EUR [{n % 9 + 1}] |" for n in range(500))]),
        9,
    ),
    "long code": build_answer("Run [1], done [2]:\n\n```python\n" + "print('the boats') # again\n" * 900 + "```", 2),
    "used again and out of order": build_answer("Two [2], one [1], two again [2].\n\nThree [3] and one [1].", 3),
    "what other programs take for more than words": build_answer(
        "A List<String> of <keys>.\n\n[1]: guide.md\n\n[a]: b\n\n<div>\nin a box\n</div>"
    ),
    "a long answer": build_answer(
        "\n\n".join(f"Fact {n}: {'more words ' * 60}[{n}]." for n in range(1, 31)), 30
    ),
    "sixty footnotes of one sentence": build_answer(
        "All of it" + "".join(f"[{n}]" for n in range(1, 61)) + ".",
        citations=tuple(build_citation(number=n, quote=f"quote {n} " + "word " * 80) for n in range(1, 61)),
    ),
    "footnotes that the text does not use": build_answer("No marks.", 3),
    "pings and links": build_answer(
        "Ask <!channel> or @everyone about &lt;keys&gt; [1].",
        citations=(build_citation(quote="<!here> &amp; <@U1> [a](https://evil.example)", document_title="<#C1>"),),
        unsupported=(Span(0, 3),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case", CASES)
def test_nothing_of_an_answer_is_dropped_and_its_numbers_are_its_sources(case: str, platform: str) -> None:
    shown = PLATFORMS[platform](CASES[case])
    assert shown.footnotes == footnotes_of(CASES[case])
    assert missing_of(CASES[case], shown) == []


@pytest.mark.parametrize("case", CASES)
def test_every_platform_has_the_same_numbers_in_the_same_order(case: str) -> None:
    shown = {name: show(CASES[case]) for name, show in PLATFORMS.items()}
    assert len({one.footnotes for one in shown.values()}) == 1, {name: one.footnotes for name, one in shown.items()}


_sentences = st.one_of(
    st.sampled_from([text for text in SCRIPTS if "[" not in text]),
    st.text("abcdefg ", min_size=1, max_size=60).map(str.strip).filter(bool),
)
_names = st.one_of(
    st.sampled_from([text for text in HOSTILE if text.isprintable() and bare(text)]),
    st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=60),
)
_kept = st.lists(_names, max_size=4).map(tuple)


@st.composite
def plain_answers(draw: st.DrawFn) -> Answer:
    """Any words, footnotes anywhere, and hostile names, quotes, choices and suggestions; no Markdown in the text."""
    notes = draw(st.integers(0, 30))
    marks = st.sampled_from([f" [{number}]" for number in range(1, notes + 1)]) if notes else st.just("")
    pairs = draw(
        st.lists(st.tuples(_sentences, st.one_of(st.just(""), marks), st.sampled_from([" ", "\n\n"])), max_size=20)
    )
    return build_answer(
        "".join(f"so {sentence}{mark}.{joint}" for sentence, mark, joint in pairs),
        status=draw(st.sampled_from(AnswerStatus)),
        citations=tuple(
            build_citation(title, number=number, page_number=number, quote=draw(_names), document_title=title)
            for number, title in enumerate(draw(st.lists(_names, min_size=notes, max_size=notes)), start=1)
        ),
        choices=draw(_kept),
        suggestions=draw(st.lists(_names, max_size=3).map(tuple)),
    )


@unhurried
@given(plain_answers())
def test_whatever_the_answer_all_platforms_show_the_same(answer: Answer) -> None:
    shown = [show(answer) for show in PLATFORMS.values()]
    for one in shown:
        assert one.footnotes == footnotes_of(answer)
        assert missing_of(answer, one) == []


def footnotes_of(answer: Answer) -> tuple[int, ...]:
    """In order of their first use."""
    known = {citation.number for citation in answer.citations}
    used = [int(number) for number in re.findall(r"\[(\d+)\]", answer.text) if int(number) in known]
    return tuple(dict.fromkeys(used))


def missing_of(answer: Answer, shown: Shown) -> list[str]:
    """Of all words in order, the sources once each with page and quote, and every way on: what is not shown."""
    missing = missing_in_order(list(words_of(answer.text)), read(shown.body))
    if shown.named:
        return missing + missing_of_line(answer, shown) + missing_offers(answer, shown)
    numbers = sorted(number for number, _ in shown.sources)
    if numbers != [citation.number for citation in answer.citations]:
        return [*missing, f"the sources are {numbers}"]
    for number, said in shown.sources:
        citation = answer.citations[number - 1]
        if shown.quotes_aside:
            is_told = read(citation.document_title) in read(said) and said.endswith(link_to(citation))
        else:
            is_told = f"Page {citation.page_number} of" in said and read(citation.quote)[:_SHORTEST_CUT] in read(said)
        if not is_told:
            missing.append(f"what is said of source {number}: {said!r}")
    return missing + missing_offers(answer, shown)


def missing_of_line(answer: Answer, shown: Shown) -> list[str]:
    """Of the numbers, unless further documents are only counted; and of the names of the first documents."""
    numbers = {number for number, _ in shown.sources}
    known = {citation.number for citation in answer.citations}
    lost = [] if numbers == known or (numbers < known and " more" in shown.named) else [f"the sources are {numbers}"]
    titles = dict.fromkeys(source.title for source in sources_of(answer.citations)[:1])
    return lost + [title for title in titles if read(title)[:_SHORTEST_CUT] not in read(shown.named)]


def missing_offers(answer: Answer, shown: Shown) -> list[str]:
    """Of the ways on: choices, and suggestions that fit into a menu, on the web all."""
    everything = read(shown.everything)
    suggestions = [text for text in answer.suggestions if len(text) <= LONGEST][:MAX_SUGGESTIONS]
    suggestions = [] if shown.named else suggestions
    return [offer for offer in (*answer.choices, *suggestions) if read(offer) not in everything]


def missing_in_order(words: list[str], text: str) -> list[str]:
    """The first word that does not follow those before it."""
    place = 0
    for word in words:
        found = text.find(word, place)
        if found < 0:
            return [f"{word!r} behind {text[max(0, place - 60) : place]!r}"]
        place = found + len(word)
    return []


def words_of(text: str) -> Iterator[str]:
    """What has to be read of a Markdown text: its words, without footnotes and the names of languages."""
    without = re.sub(r"\[\d+\]|^```\w*|^[|: -]+$", " ", text, flags=re.MULTILINE)
    yield from (word for piece in without.split() if (word := read(piece)))


def read(text: str) -> str:
    """As people compare it: without white space and signs, in one form."""
    return bare(unicodedata.normalize("NFC", html.unescape(text))).replace("•", "")
