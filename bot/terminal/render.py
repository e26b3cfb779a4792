"""Answers, hits, lists and access explanations as rich renderables. Pure; text of documents is never markup."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from markdown_it import MarkdownIt
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text
from rich.tree import Tree

from bot.presentation.answer_text import named_reference_lines, reference_line, reference_rows
from bot.terminal.console import one_line
from core.access.scopes import Ground
from core.domain.answer import Answer, AnswerStatus, Citation
from core.domain.conversation import Conversation
from core.domain.corpus import Document, Page, PageHit
from core.domain.features import StaleAnswer
from core.domain.jobs import FoundText, Job, JobKind, JobStatus
from core.domain.service import TO_THE_END
from core.features.access_explanation import AccessQuestion, Explanation, Holder, SourceReason, VerdictOn
from core.features.export import footnote_label
from core.features.staleness.stale_answers import told
from core.knowledge.references.lists import looked_at
from core.text.markup import preview
from core.text.notation import took
from core.text.words import shorten

if TYPE_CHECKING:
    from core.features.claim_evaluation import ClaimReport
    from core.features.evaluation import EvaluationReport
    from core.features.room_evaluation import RoomReport
    from core.features.verification import Verification

PUBLIC = "public"  # kind of a pair from a public set

QUOTE_LENGTH = 220
RUNNING_STEPS = 8  # shown of an answer in progress
# The rates of an evaluation, with headings short enough for eighty columns.
RATES = {
    "questions": "n",
    "recall_at_5": "R@5",
    "recall_at_10": "R@10",
    "mrr": "MRR",
    "footnote_document": "fn doc",
    "footnote_page": "fn page",
    "answered": "answer",
    "followup": "follow",
    "refused_unanswerable": "ref un",
    "refused_answerable": "ref ans",
}
RATES_LEGEND = (
    "R@5, R@10, MRR: gold page found by a lookup; fn: a proved footnote on the gold document, page; answer: the gold "
    "answer in the text; follow: follow-ups on the gold document; ref un, ref ans: unanswerable questions and lookups "
    "refused"
)
# Sources of other threads that are listed; the rest are counted, as there may be one for each thread.
MOST_ATTACHED = 10
STATUS_STYLE = {JobStatus.DONE: "green", JobStatus.FAILED: "red", JobStatus.CANCELLED: "yellow"}
ANSWER_STYLE = {AnswerStatus.ERROR: "red", AnswerStatus.REFUSED: "yellow", AnswerStatus.STOPPED: "yellow"}


def answer_view(answer: Answer, *, verbose: bool = False) -> RenderableType:
    """Return the text, footnotes with quotes and links, references, choices and suggestions.

    Of the references, these are the ones that the question names, or all of them with `verbose`.
    """
    style = ANSWER_STYLE.get(answer.status, "")
    parts: list[RenderableType] = [Text(answer.text, style=style) if style else markdown_view(answer.text)]
    if gaps := [gap for gap in answer.data_gaps if gap not in answer.text]:
        parts += [Text(), Text("Asked and not found:", style="dim"), *(_item(Text(gap, style="dim")) for gap in gaps)]
    if answer.citations:
        parts += [Text(), *(footnote_view(citation) for citation in answer.citations)]
    if answer.choices:
        parts += [Text(), *(Text(f"  {n}. {choice}", style="cyan") for n, choice in enumerate(answer.choices, start=1))]
    closest = looked_at(answer.references, ())[:3] if answer.status is AnswerStatus.NOT_FOUND else []
    if closest:
        parts += [Text(), Text("Closest pages:", style="dim")]
        parts += [_reference_line(ref.label, ref.heading, ref.snippet) for ref in closest]
    if references := _references(answer, verbose=verbose):
        parts += [Text(), *references]
    if answer.suggestions:
        parts += [Text(), Text("You could also ask:", style="dim")]
        parts += [_item(Text(suggestion, style="cyan")) for suggestion in answer.suggestions]
    return Group(*parts)


def _references(answer: Answer, *, verbose: bool) -> list[RenderableType]:
    if verbose:
        rows = [Text(one_line(reference_line(row)), style="dim") for row in reference_rows(answer)]
        return [Text("References:", style="dim"), *(_item(row, f"{n}.") for n, row in enumerate(rows, start=1))]
    named = [_item(Text(one_line(line), style="dim")) for line in named_reference_lines(answer)]
    return [Text("Named in the question:", style="dim"), *named] if named else []


def _item(words: RenderableType, mark: str = "•") -> RenderableType:
    """Return a list item; further lines are indented to its first word."""
    item = Table.grid(padding=(0, 1, 0, 0))
    item.add_row(Text(f"  {mark}", style="dim"), words)
    return item


def footnote_view(citation: Citation) -> RenderableType:
    """Return `[1] Page 5 of "report.pdf" > Chapter`, its quote, and its link."""
    head = Text.assemble((f"[{citation.number}] ", "bold cyan"), (footnote_label(citation), "bold"))
    link = citation.url or citation.deep_link
    lines = [head, Text(f"“{shorten(citation.quote, QUOTE_LENGTH)}”", style="italic dim")]
    if link:
        lines.append(Text(link, style="blue"))
    return Group(lines[0], *(Padding(line, (0, 0, 0, 4)) for line in lines[1:]))


def footnote_links(citations: Sequence[Citation]) -> RenderableType:
    """Return a line `[1] address` for each footnote with a link."""
    found = [(item.number, item.url or item.deep_link) for item in citations]
    return Group(*(Text.assemble((f"[{number}] ", "bold cyan"), (link, "blue")) for number, link in found if link))


def markdown_view(text: str) -> RenderableType:
    """Return Markdown with its addresses written out instead of live links."""
    view = Markdown("", hyperlinks=False)
    view.parsed = _parser().parse(text)
    return view


@cache
def _parser() -> MarkdownIt:
    """Return a parser without syntax that rich hides: raw HTML (`List<String>`), link definitions (`[1]: guide.md`)."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")


def hits_view(hits: Sequence[PageHit]) -> RenderableType:
    if not hits:
        return Text("Nothing found. Try other words.")
    parts: list[RenderableType] = []
    for number, hit in enumerate(hits, start=1):
        where = " > ".join([f"page {hit.page_number}", *hit.heading_path])
        parts.append(Text.assemble((f"{number}. ", "bold cyan"), (hit.document.title, "bold"), f"  {where}"))
        parts.append(Text(f"   {one_line(hit.document.path)}  ({hit.page_id})", style="dim"))
        if hit.passages:
            words = preview(hit.passages[0].passage.text, hit.document.kind, QUOTE_LENGTH)
            parts.append(Padding(Text(words), (0, 0, 1, 3)))
    return Group(*parts)


def page_view(document: Document, page: Page) -> RenderableType:
    title = " > ".join([document.title, *page.heading_path, *([page.title] if page.title else [])])
    return Group(Text(f"{title}  (page {page.number} of {document.pages})", style="bold"), Text(), Text(page.text))


def document_table(documents: Sequence[Document]) -> RenderableType:
    table = Table(_whole("Document"), "Title", "Kind", "Pages", "Passages", "State", box=None, pad_edge=False)
    for item in documents:
        state = f"failed: {item.failed_reason}" if item.failed_reason else "ok"
        table.add_row(
            Text(one_line(item.path)), Text(item.title), item.kind, str(item.pages), str(item.passages), Text(state)
        )
    return table


def _whole(heading: str) -> Column:
    """Return a column that wraps instead of cutting: people copy its values."""
    return Column(heading, overflow="fold")


def conversation_table(conversations: Sequence[Conversation]) -> RenderableType:
    table = Table(Column("Id", no_wrap=True), "Title", "Messages", "Last used (UTC)", box=None, pad_edge=False)
    for item in conversations:
        table.add_row(item.id, Text(item.title), str(item.message_count), f"{item.last_message_at:%Y-%m-%d %H:%M}")
    return table if conversations else Text("No conversations yet. Ask a question to start one.")


def stale_view(found: Sequence[StaleAnswer]) -> RenderableType:
    """Return the stale answers by conversation, each with the state of its footnotes."""
    if not found:
        return Text("No stale answers. Every cited passage is still in its document.")
    parts: list[RenderableType] = []
    for place, item in enumerate(found):
        if place == 0 or found[place - 1].conversation.id != item.conversation.id:
            title = item.conversation.title or "(no title)"
            parts.append(Text.assemble((title, "bold"), (f"  {item.conversation.id}", "dim")))
        parts.append(Text(f"  {shorten(item.question, QUOTE_LENGTH) or '(its question was removed)'}"))
        parts.append(Text(f"    {told(item)}", style="yellow"))
    return Group(*parts)


def stale_note(found: Sequence[StaleAnswer]) -> RenderableType:
    """Return the note for a conversation with stale answers."""
    answers = "One answer here is" if len(found) == 1 else f"{len(found)} answers here are"
    return Text(f"{answers} out of date: /stale lists them, and asks again.", style="yellow")


def job_trees(
    trees: Sequence[Sequence[Job]],
    *,
    roots_only: bool = False,
    found: Mapping[str, Sequence[FoundText]] = MappingProxyType({}),
) -> RenderableType:
    """Return the trees; `found` are the texts below the steps that found them, by the id of the job."""
    if not trees:
        return Text("No jobs yet. Ask a question.")
    return Group(*(_job_tree(tree[:1] if roots_only else tree, found) for tree in trees))


def running_view(jobs: Sequence[Job]) -> RenderableType:
    """Return the latest steps of an answer in progress, until there is a draft."""
    steps = [job for job in jobs if job.parent_id is not None][-RUNNING_STEPS:]
    return Group(*(Text("  ") + _job_label(job) for job in steps)) if steps else Text("…", style="dim")


def step_line(job: Job) -> RenderableType:
    """Return a finished step with its input and result, for `--verbose`."""
    line = Text("  ") + _job_label(job)
    if job.kind is JobKind.TOOL:
        line.append(f"\n    asked {dict(job.input)}\n    found {job.output.get('passages', 0)} passages", style="dim")
    return line


def eval_view(report: "EvaluationReport") -> RenderableType:
    """Return the rates over all questions and by kind of document, the latency, the misses, and the omitted sets."""
    rates = report.to_json()
    kinds = cast("dict[str, dict[str, object]]", rates["by_set_kind"])
    latency = cast("dict[str, object]", rates["latency_ms"])
    table = Table("", *RATES.values(), box=None, pad_edge=False)
    for name, row in [("all", rates), *kinds.items()]:
        table.add_row(name, *(_rate(row[key]) for key in RATES))
    types = cast("dict[str, dict[str, object]]", rates["by_type"])
    lines = [_type_line(name, row) for name, row in types.items() if row["questions"]]
    lines.append(Text(f"latency: p50 {latency['p50']} ms, p95 {latency['p95']} ms", style="dim"))
    lines.append(Text(RATES_LEGEND, style="dim"))
    lines += [
        Text(f"missed {each.question.id} “{each.question.question}”: {', '.join(each.missed).replace('_', ' ')}")
        for each in report.outcomes
        if each.missed
    ]
    lines += [Text(f"left out {name}: {reason}", style="dim") for name, reason in report.left_out.items()]
    lines += [
        Text(f"case {case.message_id[:8]} “{case.question}”: {played.difference or 'as recorded, to the byte'}")
        for case, played in report.cases
    ]
    return Group(table, Text(), *lines)


def _type_line(name: str, row: Mapping[str, object]) -> Text:
    """Return `tables: n 7, answered 0.86, ...`."""
    figures = (f"{'n' if key == 'questions' else key.replace('_', ' ')} {_rate(value)}" for key, value in row.items())
    return Text(f"{name.replace('_', ' ')}: {', '.join(figures)}")


def claims_view(report: "ClaimReport") -> RenderableType:
    """Return the figures over own and public pairs, and the share of right marks by label and kind."""
    groups = {
        "all": None,
        "own": [pair for pair in report.verdicts if pair[0].kind != PUBLIC],
        "public": [pair for pair in report.verdicts if pair[0].kind == PUBLIC],
    }
    figures = {name: report.figures(pairs) for name, pairs in groups.items() if pairs is None or pairs}
    table = Table("", *figures["all"], box=None, pad_edge=False)
    for name, row in figures.items():
        table.add_row(name, *(_rate(value) for value in row.values()))
    kinds = Table("label, kind", "rows", "right", box=None, pad_edge=False)
    for name, (rows, right) in report.by_kind().items():
        kinds.add_row(name, str(rows), _rate(right))
    return Group(table, Text(), kinds)


def rooms_view(report: "RoomReport") -> RenderableType:
    """Return the figures over all messages and by group, and each fault in a line."""
    shown = ("missed_questions", "missed_briefs", "false_interjections", "further_posts", "wrong_content")
    names = (*shown, "as_expected") if report.total.right else shown
    table = Table("", "messages", *names, box=None, pad_edge=False)
    for name, tally in (("all", report.total), *(row for rows in report.groups.values() for row in rows.items())):
        figures = tally.to_json()
        table.add_row(name, str(tally.messages), *(_rate(figures.get(each)) for each in names))
    lines = [
        f"{miss.scene} {miss.number} {miss.kind}: {miss.text} -> {miss.reply or miss.reason}" for miss in report.misses
    ]
    return Group(table, Text(), Text("\n".join(lines)))


def verification_view(found: "Verification") -> RenderableType:
    if found.problems:
        return Text("\n".join(found.problems))
    return Text(f"Verified: {found.footnotes} footnotes are word for word in the library and support their sentences.")


def _rate(value: object) -> str:
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def _job_tree(jobs: Sequence[Job], found: Mapping[str, Sequence[FoundText]]) -> Tree:
    nodes: dict[str, Tree] = {}
    for job in jobs:
        label = _job_label(job)
        above = nodes.get(job.parent_id or "")
        nodes[job.id] = node = above.add(label) if above else Tree(label)
        for item in found.get(job.id, ()):
            node.add(Text(f"{item.document_title}, page {item.page_number}: {item.snippet}", style="dim"))
    return nodes[jobs[0].id]


def _job_label(job: Job) -> Text:
    spent = f" {took(job.duration_ms)}" if job.duration_ms is not None else ""
    kind = "" if job.name.startswith(job.kind.value) else f"{job.kind.value} "
    label = Text.assemble((job.status.value, STATUS_STYLE.get(job.status, "")), f" {kind}{job.name}{spent}")
    label.append(f"  {shorten(job.asked, 80)}" if job.asked else "", style="dim")
    label.append(f"  {job.error}" if job.error else "", style="red")
    label.append(f"  {job.id}" if job.parent_id is None else "", style="dim")
    return label


def _reference_line(label: str, summary: str, snippet: str) -> RenderableType:
    return _item(Text.assemble(label, (f" > {summary}" if summary else ""), (f"\n{snippet}", "dim")))


def explanation_view(found: Explanation) -> RenderableType:
    """Return the place, a line for each source, the reading positions, and the verdict on the document in question."""
    parts: list[RenderableType] = [Text(_where(found), style="bold"), Text(), *_sources(found)]
    parts += [Text(), *_positions(found)]
    if found.document is not None:
        parts += [Text(), *_verdict(found.document)]
    return Group(*parts)


def _where(found: Explanation) -> str:
    question = found.question
    who = question.person or "anybody"
    if question.address is None:
        return f"What {who} reads in the workspace {question.workspace}, outside of channels:"
    address = question.address
    place = f"{address.platform}:{address.channel}" + (f", thread {address.thread}" if address.thread else "")
    company = "alone" if found.alone else "where others read along"
    told = f"What {who} reads in {place} of the workspace {address.workspace}, {company}"
    return f"{told}, of the sources of {question.workspace}:" if address.workspace != question.workspace else f"{told}:"


def _sources(found: Explanation) -> Iterator[RenderableType]:
    if not found.sources:
        workspace = found.question.workspace
        yield Text(
            f"There are no sources in the workspace {workspace}: add one with `footnote --workspace {workspace} ingest "
            "PATH`, or name another workspace with --workspace."
        )
    named = list(_named(found.sources))
    yield from map(_source, named)
    if more := len(found.sources) - len(named):
        yield Text.assemble(("✗ ", "red"), f"and {more} more that were attached in other threads")


def _named(sources: Sequence[SourceReason]) -> Iterator[SourceReason]:
    attached = 0
    for source in sources:
        attached += source.ground is Ground.ATTACHED_ELSEWHERE
        if source.ground is not Ground.ATTACHED_ELSEWHERE or attached <= MOST_ATTACHED:
            yield source


def _source(source: SourceReason) -> RenderableType:
    mark = ("✓ ", "green") if source.ground.is_readable else ("✗ ", "red")
    return Text.assemble(mark, (one_line(source.name), "bold"), f": {source.sentence}")


def _positions(found: Explanation) -> Iterator[RenderableType]:
    if not found.positions:
        yield Text("No reading positions apply here, so readable documents can be read to the end.")
        return
    yield Text("Reading positions:")
    for position in found.positions:
        said = f": {_shown(position.last_page)}, {_whose(position.holder, found.question)}"
        others = [(holder, last) for holder, last in position.held.items() if holder is not position.holder]
        told = "; ".join(f"{_whose(holder, found.question)} is {_shown(last)}" for holder, last in others)
        line = Text.assemble((position.document.title, "bold"), f" ({one_line(position.document.path)})", said)
        line.append(f" ({told})" if told else "", style="dim")
        yield _item(line)


def _whose(holder: Holder, question: AccessQuestion) -> str:
    if holder is Holder.CHANNEL:
        return "the channel's position"
    return f"{question.person}'s position" if holder is Holder.PERSON else f"lifted by {question.person}"


def _shown(last: int) -> str:
    if last == 0:
        return "not begun"
    return "to the end" if last == TO_THE_END else f"up to page {last}"


def _verdict(told: VerdictOn) -> Iterator[RenderableType]:
    yield Text(told.sentence, style="bold")
    if told.changes:
        yield Text("To change this:")
        yield from (_item(Text(change)) for change in told.changes)
