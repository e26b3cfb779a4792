"""Answers and steps as they may come, for property tests of every platform: hostile words in every place."""

import re

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from core.domain.answer import Answer, AnswerStatus, Citation, Reference, ReferenceType
from core.domain.jobs import Job, JobStatus
from core.domain.passages import Span
from tests.builders import build_citation, build_job
from tests.unit.bot.markdown_texts import GOOD, HOSTILE, SCRIPTS, any_texts

POST, ANSWER = "b" * 32, "a" * 32
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def link_to(citation: Citation) -> str | None:
    return f"{GOOD}?n={citation.number}" if citation.number % 7 else None


def build_answer(text: str = "Under the mat [1].", notes: int = 1, **fields: object) -> Answer:
    values = {
        "status": AnswerStatus.ANSWERED,
        "citations": tuple(build_citation(number=number) for number in range(1, notes + 1)),
        "message_id": ANSWER,
        **fields,
    }
    return Answer(text=text, **values)  # type: ignore[arg-type]  # fields are those of an answer


names = st.one_of(st.sampled_from(HOSTILE + SCRIPTS), st.text(max_size=80))


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """Any answer: hostile words in every place, up to sixty footnotes used anywhere in the text."""
    notes = draw(st.integers(0, 60))
    pieces = draw(st.lists(st.one_of(any_texts, st.integers(1, 70).map("{0}]. ".format)), max_size=12))
    text = "".join(f"[{piece}" if re.fullmatch(r"\d+\]\. ", piece) else piece for piece in pieces)
    few = st.lists(names, max_size=4).map(tuple)
    citations = tuple(
        build_citation(
            number=number,
            document_title=draw(names),
            heading_path=draw(few),
            quote=draw(st.one_of(names, any_texts)),
            url=draw(st.sampled_from([None, GOOD])),
        )
        if number < 8
        else build_citation(number=number, quote="word " * number)
        for number in range(1, notes + 1)
    )
    return build_answer(
        text,
        status=draw(st.sampled_from(AnswerStatus)),
        citations=citations,
        references=tuple(
            Reference(type=ReferenceType.SEARCH, label=label, document=f"{place}.md")
            for place, label in enumerate(draw(st.lists(names, max_size=14)))
        ),
        partial=draw(st.booleans()),
        unsupported=draw(st.sampled_from([(), (Span(0, 1),)])),
        choices=tuple(draw(st.one_of(st.lists(names, max_size=4), st.just(["Document"] * 120)))),
        suggestions=draw(few),
        data_gaps=draw(few),
        message_id=draw(st.sampled_from(["", ANSWER])),
    )


@st.composite
def trees(draw: st.DrawFn) -> list[Job]:
    """Jobs with any words, their parents anywhere, even missing."""
    words = st.one_of(st.sampled_from(HOSTILE + SCRIPTS), st.text(max_size=60))
    return [
        build_job(
            f"j{number}",
            parent_id=draw(st.sampled_from([None, *(f"j{n}" for n in range(number + 2))])),
            name=draw(words),
            status=draw(st.sampled_from(JobStatus)),
            input={"query": draw(words)},
            output={"passages": number},
            error=draw(st.one_of(st.none(), words)),
        )
        for number in range(draw(st.integers(0, 12)))
    ]
