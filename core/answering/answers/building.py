"""From a draft, or an error, to the answer people see: its proved text and data, its status and its notes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from core.answering.answers.sentences import quoted, say
from core.answering.answers.typed import prove_typed
from core.answering.citations import ProvedText, cited_page_ids, prove
from core.answering.grounding import Basis, Checked, mark
from core.answering.support.claims import only_says_not_found
from core.domain.answer import Answer, AnswerStatus, Draft, PicturedPage, Reference, ReferenceType
from core.domain.corpus import Page, SearchScope
from core.domain.passages import Span
from core.domain.replies import CitedText, PassageCitation
from core.domain.support import Verdict
from core.errors import Ambiguous, BudgetSpent, FootnoteError, NotFound, ProviderRefused
from core.knowledge.references.lists import all_references, labels
from core.ports import CorpusRepository
from core.text.language import Language


async def live_pages(draft: Draft, corpus: CorpusRepository, scope: SearchScope) -> Mapping[str, Page]:
    """Return pages by id, within scope, without those replaced or removed while the draft was written."""
    pages: dict[str, Page] = {}
    for page_id in cited_page_ids(draft):
        try:
            pages[page_id] = await corpus.get_page(page_id, scope)
        except NotFound:
            continue  # its claims lose their footnotes
    return pages


def prove_draft(draft: Draft, pages: Mapping[str, Page]) -> tuple[Draft, ProvedText]:
    """Return the draft, with the proved part of its data, and its proved text."""
    return (draft, prove(draft, pages)) if draft.data is None else prove_typed(draft, pages)


ROW_END = " |"


def table(
    columns: Sequence[str], rows: Iterable[tuple[Sequence[Sequence[str]], PassageCitation]], between: str = ""
) -> Iterator[CitedText]:
    """Yield a Markdown table after `between`: rows of cells below their columns, the last cell with the footnote."""
    begin = f"{between}{_row(columns)} |\n|{'---|' * len(columns)}"
    for group, citation in rows:
        for cells in group:
            yield CitedText(text=f"{begin}\n{_row(cells)}", citations=(citation,))
            begin = ROW_END
    yield CitedText(text=ROW_END)


def join_answers(answers: Iterable[tuple[str, Sequence[CitedText]]]) -> Iterator[CitedText]:
    """Yield the answers to parts of a question, each below the title of its document ("" for none) if they differ."""
    listed = [*answers]
    several = len({title for title, _ in listed if title}) > 1
    for place, (title, segments) in enumerate(listed):
        begin = "\n\n" * bool(place) + f"**{title}**:\n" * (several and bool(title))
        yield from [CitedText(text=begin)] if begin else []
        yield from segments


def _row(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)}"


def build_answer(
    draft: Draft,
    proved: ProvedText,
    direct: Sequence[Reference],
    checked: Sequence[Checked] = (),
    language: Language = Language.ENGLISH,
) -> Answer:
    """Build the answer of a draft: proved footnotes, marked unsupported claims, and the status that follows.

    `language` is that of the notes around the draft's own words.
    """
    references = (*all_references(direct, draft, proved.citations), *_pictured(checked, draft))
    common = Answer(
        status=AnswerStatus.ANSWERED,
        text=proved.text.strip(),
        citations=proved.citations,
        references=references,
        partial=draft.partial or draft.is_cut,
        response_type=draft.response_type,
        data=draft.data,
        data_sources=_data_sources(draft, proved),
        data_gaps=draft.data_gaps,
        usage=draft.usage,
        model=draft.model,
        suggestions=(say("continue", language),) if draft.is_cut else (),
    )
    if draft.unanswerable:
        text = say("unanswerable", language, why=draft.unanswerable)
        return replace(common, status=AnswerStatus.NOT_FOUND, text=text, data_gaps=(draft.unanswerable,))
    if draft.choices:
        return replace(common, status=AnswerStatus.CLARIFY, choices=draft.choices, citations=())
    if proved.citations:
        return _footnoted(common, draft, proved, checked, language)
    return _without_footnotes(common, draft, proved, checked, language)


def _footnoted(
    common: Answer, draft: Draft, proved: ProvedText, checked: Sequence[Checked], language: Language
) -> Answer:
    grounding = mark(proved.text, checked)
    lead = len(grounding.text) - len(grounding.text.lstrip())
    unsupported = tuple(Span(span.start - lead, span.end - lead) for span in grounding.unsupported)
    labels = [say("without_footnote", language, sources=label) for label in _labels(checked, draft, language)]
    text = "\n\n".join([grounding.text.strip(), *labels, *_limits(draft, language), *draft.notes])
    return replace(common, text=text, unsupported=unsupported, grounded=not unsupported)


def _without_footnotes(
    common: Answer, draft: Draft, proved: ProvedText, checked: Sequence[Checked], language: Language
) -> Answer:
    """An answer that cites nothing: about the search, the library or a picture; else it is withheld.

    Sentences that nothing backs are left out, unless nothing was looked up: then a label is added.
    """
    looked_up = bool(draft.evidence.searches or draft.new_messages)
    claims = [item for item in checked if item.judgement.verdict is not Verdict.NO_CLAIM]
    notes = [*_limits(draft, language), *draft.notes]
    if not claims and checked:
        if looked_up and not common.text.endswith("?"):
            text = "\n\n".join([_with_searches(common.text, draft, language), *notes])
            return replace(common, status=AnswerStatus.NOT_FOUND, text=text)
        return replace(common, text="\n\n".join([common.text, *notes]))
    if not looked_up:
        return replace(common, text="\n\n".join([common.text, say("not_from_documents", language), *notes]))
    kept = [item for item in claims if not item.is_faulty]
    honest = _honest_part(proved.text, checked)
    if not kept and not only_says_not_found(honest):
        text = _not_found(draft, common.references, language)
        return replace(common, status=AnswerStatus.NOT_FOUND, text="\n\n".join([text, *notes]))
    if not kept:
        text = "\n\n".join([_with_searches(honest, draft, language), *notes])
        return replace(common, status=AnswerStatus.NOT_FOUND, text=text)
    labels = [say("from", language, sources=label) for label in _labels(kept, draft, language)]
    return replace(common, text="\n\n".join([honest, *labels, *notes]))


def _labels(checked: Sequence[Checked], draft: Draft, language: Language) -> list[str]:
    """Return the sources of sentences without a footnote: the library, the picture of a page."""
    pages = say("and", language).join(_name(page, language) for page in draft.evidence.pictures)
    sources = {
        Basis.LIBRARY: say("library_lists", language),
        Basis.PICTURE: say("page_picture", language, pages=pages),
    }
    return [label for basis, label in sources.items() if any(item.basis is basis for item in checked)]


def _name(page: PicturedPage, language: Language) -> str:
    title = quoted([page.document.title], language)
    return say(f"page_{page.part.name.lower()}", language, number=page.number, title=title)


def _pictured(checked: Sequence[Checked], draft: Draft) -> list[Reference]:
    """Return the pages of which sentences rest on a picture."""
    rests = any(item.basis is Basis.PICTURE for item in checked)
    return [
        Reference(
            type=ReferenceType.PICTURE,
            label=", ".join([page.document.title, f"page {page.number}", *([page.part] if page.part.is_half else [])]),
            document=page.document.path,
            document_id=page.document.id,
        )
        for page in draft.evidence.pictures
        if rests
    ]


def _honest_part(text: str, checked: Sequence[Checked]) -> str:
    """The text without sentences that nothing backs."""
    pieces, last = [], 0
    for item in checked:
        if item.is_faulty:
            pieces.append(text[last : item.span.start])
            last = item.span.end
    return "".join([*pieces, text[last:]]).strip()


def _with_searches(text: str, draft: Draft, language: Language) -> str:
    """Return a not-found in the model's own words with the searches, unless it names them."""
    searches = [search for search in dict.fromkeys(draft.evidence.searches) if search not in text]
    return f"{text}\n\n{say('searched', language, searches=quoted(searches, language, ', '))}" if searches else text


def _limits(draft: Draft, language: Language) -> list[str]:
    reached = {"partial": draft.partial, "cut": draft.is_cut}
    return [say(name, language) for name, is_so in reached.items() if is_so]


def _data_sources(draft: Draft, proved: ProvedText) -> tuple[str, ...]:
    """Paths of the documents that typed data is proved from."""
    return tuple(dict.fromkeys(c.document for c in proved.citations)) if draft.data is not None else ()


def _not_found(draft: Draft, references: Sequence[Reference], language: Language) -> str:
    text = [say("nothing", language)]
    if draft.evidence.searches:
        searches = quoted(dict.fromkeys(draft.evidence.searches), language, ", ")
        text.append(say("nothing_searched", language, searches=searches))
    if references:
        text.append(say("nothing_closest", language, places=labels(references[:3])))
    return " ".join(text)


def bounded(answer: Answer, positions: Mapping[str, int]) -> Answer:
    """Add the reading positions of the answer, which its follow-ups keep to."""
    citations = tuple(replace(item, last_page=positions.get(item.document_id)) for item in answer.citations)
    return replace(answer, citations=citations, read_to=dict(positions))


def with_notes(answer: Answer, notes: Sequence[str]) -> Answer:
    """Add notes about failed preparations, for people and for programs."""
    if not notes:
        return answer
    return replace(answer, text="\n\n".join([answer.text, *notes]).strip(), data_gaps=(*answer.data_gaps, *notes))


def build_error_answer(error: FootnoteError) -> Answer:
    """An error people can act on, as the answer they see."""
    if isinstance(error, Ambiguous):
        return Answer(status=AnswerStatus.CLARIFY, text=str(error), choices=error.candidates)
    status = AnswerStatus.REFUSED if isinstance(error, ProviderRefused | BudgetSpent) else AnswerStatus.ERROR
    return Answer(status=status, text=str(error))
