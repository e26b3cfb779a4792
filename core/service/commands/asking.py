"""Commands that ask: a question with its options, and a summary."""

from core.access.scopes import Access
from core.domain.answer import QueryType
from core.errors import BadInput, NotFound
from core.knowledge.library import Library
from core.work.commands import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    Question,
    readable_by,
    required,
)
from core.work.questions import DEEP_STRATEGY, to_command

_DOCUMENT = Option(name="document", help="answer from this document alone", kind=OptionKind.DOCUMENT)
_JOURNAL = Option(name="journal", help="answer from this journal alone", kind=OptionKind.JOURNAL)
_DEEP = Option(name="deep", help="plan it, look up its parts, answer in a fixed form", kind=OptionKind.FLAG)
_PRIVATE = Option(name="private", help="only you see the answer", kind=OptionKind.FLAG)
_TO_THE_END = Option(
    name="to_the_end", help="with --private: beyond your reading position, this once", kind=OptionKind.FLAG
)


class AskingCommands:
    """Commands that put a question. Names are resolved before anything is asked."""

    def __init__(self, library: Library, access: Access) -> None:
        self._library = library
        self._access = access

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="ask",
                usage="QUESTION [--document NAME] [--journal NAME] [--deep] [--private [--to_the_end]]",
                help="ask a question, of one document or journal, or privately",
                run=self._ask,
                options=(
                    Option(name="question", help="what you want to know", required=True),
                    _DOCUMENT,
                    _JOURNAL,
                    _DEEP,
                    _PRIVATE,
                    _TO_THE_END,
                ),
            ),
            Command(
                name="summary",
                usage="NAME [--private]",
                help="summarise a document or journal",
                run=self._summary,
                options=(
                    Option(name="name", help="a document or a journal", kind=OptionKind.DOCUMENT, required=True),
                    _PRIVATE,
                ),
            ),
        )

    async def _ask(self, call: CommandCall) -> CommandResult:
        text = required(call, "question", "a question")
        if to_command(text) is not None:
            raise BadInput(f"{text.split()[0]} is a command, not a question. Send it without /ask.")
        document, journal = call.option("document"), call.option("journal")
        if document and journal:
            raise BadInput("Choose either --document or --journal, not both.")
        scope = await readable_by(call, self._access)
        if document:
            document = (await self._library.find_document(document, scope)).path
        if journal:
            journal = (await self._library.find_journal(journal, scope)).title
        question = Question(
            text=text,
            document=document or None,
            journal=journal or None,
            strategy=DEEP_STRATEGY if call.is_set("deep") else None,
            private=call.is_set("private"),
            to_the_end=call.is_set("to_the_end"),
        )
        if question.to_the_end and not (question.private or call.is_alone):
            raise BadInput("Add --private to use --to_the_end here, so that nobody else sees spoilers.")
        return CommandResult(text=text, ask=question, is_public=not question.private)

    async def _summary(self, call: CommandCall) -> CommandResult:
        wanted = required(call, "name", "the name of a document or a journal")
        scope = await readable_by(call, self._access)
        try:
            found = await self._library.find_document(wanted, scope)
        except NotFound:
            found = await self._library.find_journal(wanted, scope)
        question = Question(
            text=f"Summarise “{found.title}”.",
            query_type=QueryType.SUMMARY,
            document=f"{found.source}/{found.path}",
            private=call.is_set("private"),
        )
        return CommandResult(text=question.text, ask=question, is_public=not question.private)
