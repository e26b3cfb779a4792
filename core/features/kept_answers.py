"""Answers that people keep: pages of the workspace's own document, citable by later questions."""

import asyncio
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from core.answering.citations import strip_markers
from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.domain.corpus import Document, Source
from core.domain.footnotes import web_address
from core.domain.kept_answers import KeptSection, read_sections, with_section, write_sections
from core.errors import BadInput, ReadError, StorageError
from core.knowledge.attachments import Ingest
from core.knowledge.sources import source_id
from core.ports import Clock, CorpusRepository
from core.ports.service import SettingsRepository
from core.text.words import collapse, shorten
from core.thread_work import to_its_end
from core.work.commands import Command, CommandCall, CommandResult, current
from core.work.conversations import Conversations

KEPT_SOURCE = "kept answers"  # the source of a workspace that holds them
KEPT_TITLE = "Kept answers"  # its one document
TITLE_LENGTH = 200  # characters of a page's title
_FORGED = re.compile(r"^(\s*)<!-- kept:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The location of a kept answer."""

    document: Document
    title: str  # of its page: the question
    replaced: bool  # the message had been kept before


class KeptAnswers:
    """The kept answers of all workspaces, a folder each under `folder`."""

    def __init__(
        self, *, corpus: CorpusRepository, settings: SettingsRepository, ingest: Ingest, folder: Path, clock: Clock
    ) -> None:
        self._settings = settings
        self._corpus = corpus
        self._ingest = ingest
        self._folder = folder
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()

    async def keep(
        self,
        workspace: str,
        *,
        question: str,
        answer: str,
        link: str,
        by: str,
        cited: Collection[str] = (),
        is_ours: bool = False,
    ) -> Kept:
        """Keep an answer; `link` is the web address of its message, `by` the name of the person who keeps it.

        `is_ours`: footnote numbers are removed, because they mean nothing outside the thread. `cited` are the IDs of
        the documents it cites: an answer is not kept while somebody has a reading position in one of them, because
        the whole workspace reads kept answers. Keeping the same link again replaces the earlier copy. The answer can
        be cited when this returns. Raises BadInput for an empty answer or a link that is no web address, InvalidState
        when another source has the name, and ReadError, StorageError and ModelMissing if it can't be stored or read.
        """
        address = web_address(link)
        if address is None:
            raise BadInput(f"{link!r} is no web address: a kept answer needs the link of its message.")
        if not (await self._settings.positioned(workspace)).isdisjoint(cited):
            raise BadInput("Someone is still reading the book behind this answer, so it can't be kept for everyone.")
        text = strip_markers(answer) if is_ours else answer
        if not any(character.isalnum() for character in text):
            raise BadInput("This message has no text to keep.")
        ending = f"Kept by {' '.join(by.split())} on {self._clock.now():%Y-%m-%d}."
        section = build_section(question, text, address, ending)
        identity = source_id(workspace, KEPT_SOURCE)
        location = str(self._folder / identity)
        source = Source(id=identity, workspace=workspace, name=KEPT_SOURCE, kind="folder", location=location)
        async with self._one_at_a_time:
            await self._corpus.save_source(source)
            replaced = await to_its_end(lambda: _put(Path(source.location, f"{KEPT_TITLE}.md"), section))
            report = await self._ingest(source, Path(source.location))
            if report.failures:
                raise ReadError(f"The answer is written down, but can't be read: {report.failures[0].reason}.")
            documents = await self._corpus.list_documents(workspace, frozenset({source.id}))
        return Kept(document=documents[0], title=section.title, replaced=replaced)


def build_section(question: str, answer: str, link: str, ending: str) -> KeptSection:
    """Return a section of a question, its answer and a last line; `link` is a web address."""
    title = shorten(question, TITLE_LENGTH).lstrip("# ") or "A kept answer"
    asked = question.strip() if shorten(question, TITLE_LENGTH) != collapse(question) else ""
    parts = [f"## {title}", *filter(None, (_escaped(asked), _escaped(answer.strip()), ending))]
    return KeptSection(link=link, title=title, text="\n\n".join(parts))


def _escaped(text: str) -> str:
    """Escape marks that would begin another section."""
    return _FORGED.sub(r"\1&lt;!-- kept:", text)


def _put(path: Path, new: KeptSection) -> bool:
    """Write the file with a section more, whole or not at all; whether it took the place of another."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = read_sections(path.read_text(encoding="utf-8")) if path.exists() else []
        draft = path.with_name(f".{path.name}.new")  # hidden: no ingest reads it
        text = write_sections(KEPT_TITLE, with_section(sections, new))
        with draft.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"The answer can't be kept in {str(path)!r}: {error}.") from error
    return any(section.link == new.link for section in sections)


def keep_command(conversations: Conversations, kept_answers: KeptAnswers) -> Command:
    """Return the row of the table that keeps answers."""

    async def keep(call: CommandCall) -> CommandResult:
        _, messages = await conversations.show(current(call).id, call.workspace)
        answered = AnswerStatus.ANSWERED.value
        place = next((i for i in reversed(range(len(messages))) if messages[i].status == answered), None)
        if place is None:
            raise BadInput("This conversation has no answer to keep yet. Ask a question first.")
        if current(call).address.private_to is not None:
            raise BadInput("This answer is private. Ask again in the channel, then keep that answer.")
        if call.link is None:
            raise BadInput(
                "This answer has no web address to be kept with: keep it on the platform where it was given."
            )
        answer = messages[place]
        asked = next((item for item in reversed(messages[:place]) if item.role is Role.USER), None)
        kept = await kept_answers.keep(
            call.workspace,
            question=asked.content if asked else "",
            answer=answer.content,
            link=f"{call.link}#{answer.id[:8]}",  # the thread's other answers may be kept, too
            by=call.author_name or call.author,
            cited={item.document_id for item in answer.citations},
            is_ours=True,
        )
        again = "Kept again" if kept.replaced else "Kept"
        return CommandResult(text=f"{again} as “{kept.title}” in “{KEPT_TITLE}”.", is_public=True)

    help = "keep the last answer, so that later ones can cite it"
    return Command(name="keep", usage="", help=help, run=keep, for_channels=True)
