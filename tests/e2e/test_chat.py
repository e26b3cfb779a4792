"""`footnote chat`: the terminal adapter, with typed lines for a reader, and once in a real terminal."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from bot.cli.chat import ChatOptions, TerminalChat
from bot.config import Config
from bot.service.local_operations import LocalOperations
from bot.wiring.parts import build_parts
from core.errors import NotFound
from tests.anthropic_server import AnthropicServer, Reply
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.conftest import Footnote
from tests.e2e.terminal import TIMEOUT_SECONDS, Terminal

QUESTION = "How long must we wait before starting the gate controller again?"
WAIT = "Wait a full minute."
Chat = Callable[..., str]


class Typist:
    """Types lines, then Ctrl+D. An exception among the lines is raised as if a key had caused it."""

    def __init__(self, *lines: str | BaseException) -> None:
        self._lines: Iterator[str | BaseException] = iter(lines)

    def __call__(self, prompt: str) -> str:
        line = next(self._lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line


@pytest.fixture
def chat(data_dir: Path) -> Chat:
    """Chats once; gives what was shown, on one line."""

    def run(*lines: str | BaseException, **options: object) -> str:
        console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
        operations = LocalOperations("local", partial(build_parts, Config(data_dir=data_dir)))
        with console.file, asyncio.Runner() as runner:
            runner.run(operations.open())
            try:
                TerminalChat(operations, console, ChatOptions(**options), Typist(*lines)).run(runner)
            finally:
                runner.run(operations.close())
        return " ".join(console.export_text().split())

    return run


def test_a_question_a_follow_up_and_a_command_go_on_in_one_conversation(chat: Chat) -> None:
    shown = chat(QUESTION, "/rename Gates", "/threads", "/recap", "", "quit", "never asked", new=True)

    assert WAIT in shown
    assert "[1] Page" in shown
    assert "Renamed to “Gates”" in shown
    assert f"• {QUESTION}" in shown
    assert "never asked" not in shown


def test_an_earlier_conversation_is_picked_by_number_or_id_and_leaving_creates_none(chat: Chat) -> None:
    chat(QUESTION, new=True, title="Old gates")
    shown = chat("1", "/threads")
    assert "Conversation: Old gates" in shown
    conversation_id = shown.split("messages, ")[1].split(")")[0]
    assert "Conversation: Old gates" in chat(conversation_id=conversation_id)
    assert chat("", "/threads").count("messages,") == 1
    with pytest.raises(NotFound):
        chat(conversation_id="nope")


def test_what_is_typed_where_a_conversation_is_to_be_picked_is_not_lost(chat: Chat) -> None:
    chat(QUESTION, new=True, title="Old gates")

    asked = chat(QUESTION, "/threads")
    assert WAIT in asked
    assert asked.count("messages,") == 2  # a conversation of its own
    assert "There is no 7 in the list" in chat("7")
    assert WAIT not in chat("quit", QUESTION)
    assert "Ask a question" not in chat()  # Ctrl+D


def test_a_chat_about_a_document_answers_from_it_alone(chat: Chat) -> None:
    shown = chat("What happened with the bell?", document="the-clockmaker-of-tern.txt", new=True)

    assert "the-drowned-bell.json" not in shown


def test_commands_ask_of_one_document_and_sum_it_up(chat: Chat) -> None:
    document = "the-clockmaker-of-tern.txt"
    shown = chat(f"/ask What happened with the bell? --document {document}", new=True)
    summary = chat(f"/summary {document}", "/threads rename 1 The clockmaker", "/threads mine", new=True)

    assert "the-drowned-bell.json" not in shown
    assert "[1] Page" in summary and "The Clockmaker of Tern" in summary
    assert "Renamed to “The clockmaker”" in summary
    assert "The clockmaker (terminal," in summary


def test_extracted_rows_are_shown_with_their_footnotes(chat: Chat) -> None:
    shown = chat("/facts open action items of Ines Okafor due before July 2026", "/extract", new=True)

    assert "put the new Skerrow departure into the booking service" in shown
    assert '[1] Page 5 of "Harbour council, 12 May 2026"' in shown
    assert "teach the booking service" not in shown
    assert "meeting: 2" in shown


def test_a_chat_alone_has_no_commands_of_a_service_or_a_channel(chat: Chat) -> None:
    shown = chat("/help", "/help all", "/stop", "/why", "/mute", "/settings limit 3", new=True)

    assert "More, by task: /help read, " in " ".join(shown.split())
    assert "/summary NAME" in shown
    assert "/settings [NAME" not in shown
    assert "Unknown command /stop" in shown
    assert "Unknown command /why" in shown
    assert shown.count("only works in channels of chat platforms") == 2


def test_verbose_shows_tool_calls(chat: Chat) -> None:
    shown = chat(QUESTION, new=True, verbose=True)

    assert "tool search" in shown
    assert "found" in shown
    assert "tool search" not in chat(QUESTION, new=True)


def test_an_export_is_shown_or_written_beside_the_chat_but_never_over_a_file(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = chat(QUESTION, "/export", "/export pdf", "/export pdf", new=True)

    [written] = tmp_path.glob("conversation-*.pdf")
    assert written.read_bytes().startswith(b"%PDF-")
    assert shown.count(QUESTION) >= 1
    assert f"Written: {written.name}" in shown
    assert "can't be written here (File exists)" in shown


def test_errors_and_interrupts_at_the_prompt_do_not_end_the_chat(chat: Chat) -> None:
    shown = chat("/nonsense", "/page", KeyboardInterrupt(), "?!", "/delete", QUESTION, "/delete", "/export", new=True)

    assert "Unknown command /nonsense" in shown
    assert "quit or Ctrl+D leaves" in shown
    assert "The question is empty" in shown
    assert WAIT in shown
    assert "Deleted" in shown
    assert shown.count("needs a conversation") == 2


async def test_ctrl_c_stops_the_answer_and_not_the_chat(data_dir: Path) -> None:
    async with AnthropicServer() as server:
        server.script(Reply.of("Never seen.", delay_seconds=60), Reply.of("You are welcome."))
        environment = {
            "ANTHROPIC_API_KEY": KEY,
            "FOOTNOTE_PROVIDER__NAME": "anthropic",
            "FOOTNOTE_PROVIDER__MODEL": MODEL,
            "FOOTNOTE_PROVIDER__BASE_URL": server.url,
            "TERM": "dumb",
        }
        terminal = await asyncio.to_thread(_stop_one_answer, data_dir, environment, server)
        assert terminal.end() == 0
        assert "Never seen." not in terminal.shown
        assert "Traceback" not in terminal.shown


def _stop_one_answer(data_dir: Path, environment: dict[str, str], server: AnthropicServer) -> Terminal:
    """The terminal of a chat that was left after its first answer was stopped and its second one came."""
    terminal = Terminal("--data-dir", str(data_dir), "chat", "--new", environment=environment)
    terminal.wait_for("Ask a question")
    terminal.type("Say something nice about rivers.\n")
    until = time.monotonic() + TIMEOUT_SECONDS
    while not server.requests:
        assert time.monotonic() < until, terminal.shown
        time.sleep(0.02)
    terminal.type("\x03")
    terminal.wait_for("Stopped.")
    terminal.type("And about the sea?\n")
    terminal.wait_for("You are welcome.")
    terminal.leave()
    return terminal


def test_tab_completes_commands_and_their_documents(data_dir: Path) -> None:
    terminal = Terminal("--data-dir", str(data_dir), "chat", "--new", environment={"TERM": "dumb"})
    terminal.wait_for("Ask a question")
    terminal.type("/summ\tsample library/stories/the-cl\t\n")
    terminal.wait_for("/summary sample library/stories/the-clockmaker-of-tern.txt")
    terminal.wait_for("[1] Page")
    terminal.leave()

    assert terminal.end() == 0


def test_an_answer_of_a_removed_document_is_deleted_and_not_stale(chat: Chat, footnote: Footnote) -> None:
    chat(QUESTION, new=True, title="Old gates")
    assert "out of date" not in chat("1", "quit")
    footnote("documents", "remove", "operations/Runbook - ticket gates offline.md")
    assert "No stale answers here." in chat("1", "/stale", "quit")
    [listed] = footnote("conversations", "list", "--json").json["conversations"]
    shown = footnote("conversations", "show", listed["id"]).out
    assert "This answer was deleted, because a document that it rests on was removed." in " ".join(shown.split())
