"""Which messages are commands, and how commands are named on Slack."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.slackbot.events.command_text import _ARGUMENTS, FOR_THREADS, format_command_names, to_command_text
from core.domain.incoming import ThreadAddress
from core.work.commands import CommandCall
from core.work.questions import to_command
from tests.unit.bot.slackbot.whole_table import whole_table

TABLE = tuple(whole_table().table)
CONVERSATION = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"

COMMANDS = [
    # alone, however it is read_message
    *((name, f"/{name}") for name in TABLE),
    ("Stop", "/stop"),
    ("HELP!", "/help"),
    ("stop.", "/stop"),
    ("stop please", "/stop"),
    ("new, please!", "/new"),
    ("Stop it now!", "/stop"),
    ("new conversation", "/new"),
    ("delete this thread", "/delete"),
    ("keep that answer, thanks", "/keep"),
    ("mute this thread", "/mute"),
    ("listen here", "/listen"),
    (": help", "/help"),
    (", stop", "/stop"),
    ("`help`", "/help"),
    ("/footnote stop", "/stop"),
    ("`@footnote settings limit 5`", "/settings limit 5"),
    ("footnote help", "/help"),
    ("  jobs \n", "/jobs"),
    # with a slash, whatever follows
    ("/stop", "/stop"),
    ("/search what is a day?", "/search what is a day?"),
    ("/ask where is the key?", "/ask where is the key?"),
    ("/help me", "/help me"),
    ("`/threads mine`", "/threads mine"),
    # with what the command takes
    ("help spoilers", "/help spoilers"),
    ("ask where the key is --private", "/ask where the key is --private"),
    ("ask who has it --document house.md", "/ask who has it --document house.md"),
    ("summary handbook.md", "/summary handbook.md"),
    ("summary The Lighthouse", "/summary The Lighthouse"),
    ("summary Guide to the Coast --private", "/summary Guide to the Coast --private"),
    ("summary handbook", "/summary handbook"),
    ("search wild magic", "/search wild magic"),
    ("Search harbour rules", "/search harbour rules"),
    ("search Lord of the Rings", "/search Lord of the Rings"),
    ("search 2024 budget", "/search 2024 budget"),
    ('search "for the key"', '/search "for the key"'),
    ("threads mine", "/threads mine"),
    ("threads here 2", "/threads here 2"),
    ("threads 2", "/threads 2"),
    ("threads list", "/threads list"),
    ("threads open 3", "/threads open 3"),
    ("threads rename 3 The new name", "/threads rename 3 The new name"),
    ("threads export 1 json", "/threads export 1 json"),
    (f"threads delete {CONVERSATION}", f"/threads delete {CONVERSATION}"),
    ("open 3", "/open 3"),
    ("open 3 please", "/open 3"),
    (f"open {CONVERSATION[:8]}", f"/open {CONVERSATION[:8]}"),
    ("rename Harbour rules", "/rename Harbour rules"),
    ("rename harbour rules", "/rename harbour rules"),
    ("export json", "/export json"),
    ("export markdown.", "/export markdown"),
    ("page handbook.md 2", "/page handbook.md 2"),
    ("page The Lighthouse 12", "/page The Lighthouse 12"),
    ("source 2", "/source 2"),
    ("source [2]", "/source [2]"),
    ('position "The Lighthouse" chapter 5', '/position "The Lighthouse" chapter 5'),
    ("position “the lighthouse” the storm", "/position “the lighthouse” the storm"),
    ("position Lighthouse 7", "/position Lighthouse 7"),
    ("position handbook.md=7", "/position handbook.md=7"),
    ("position Lighthouse end --channel", "/position Lighthouse end --channel"),
    ("position Lighthouse off", "/position Lighthouse off"),
    ("settings answer_posts on", "/settings answer_posts on"),
    ("settings sources handbook, wiki", "/settings sources handbook, wiki"),
    ("settings sources all", "/settings sources all"),
    ("settings sources none", "/settings sources none"),
    ("settings language German", "/settings language German"),
    ("settings language off", "/settings language off"),
    ("settings limit 5", "/settings limit 5"),
    ("settings limit", "/settings limit"),
    ("facts owner:Ann due<2026-12-01", "/facts owner:Ann due<2026-12-01"),
    ("extract handbook.md", "/extract handbook.md"),
    ("extract The Lighthouse --type table", "/extract The Lighthouse --type table"),
]
QUESTIONS = [
    "facts about the lighthouse",
    "extract the dates from the minutes",
    "stop words in the index?",
    "summary of chapter 2?",
    "help me find the key",
    "why?",
    "why is the door locked",
    "stop?!",
    "help？",
    "new rules for magic",
    "new in version 3",
    "keep in mind that the door is locked",
    "delete the old index",
    "jobs at the harbour",
    "listen to the sea",
    "mute swans in the bay",
    "sources of wild magic",
    "source of the river",
    "source code of the parser",
    "source 2 and 3",
    "position of the lighthouse",
    "position papers",
    "position of ship 7",
    "page 3",
    "page 3 of the handbook",
    "page the manager on day 3",
    "summary of the lighthouse",
    "summary judgment in contract law",
    "summary for somebody who has not read it",
    "search for the key",
    "search the handbook for holidays",
    "search everything about the harbour",
    "threads of the plot",
    "threads open on the table",
    "threads rename the hero",
    "open the door",
    "open 3 doors",
    "open questions from the meeting",
    "rename this conversation to harbour",
    "rename files in the archive",
    "export the list of members",
    "export json of everything",
    "settings of the printer",
    "settings limit the speed",
    "settings language for printers",
    "settings sources of income, and profits",
    "ask who made the clock",
    "ask Ada about the key",
    "how long is a day?",
    "where is the key",
    "stopping distance of a train",
    "helpful hints",
    "please stop the presses",
    "stop\nthe presses",
    "stop it from leaking",
    "new thread size",
    "delete this",
    "summary chapter 2",
    "page chapter 2",
    "search chapter IV",
    "/etc/hosts",
    "footnote 2 is wrong",
    "footnotes of the last answer",
    "/footnote where is the key",
    "/stop/it",
    "/nothing of ours",
    "and/or",
    "",
    "?",
    "7",
]


@pytest.mark.parametrize(("said", "command"), COMMANDS)
def test_what_is_plainly_a_command_is_one(said: str, command: str) -> None:
    assert to_command_text(said, TABLE) == command


@pytest.mark.parametrize("said", QUESTIONS)
def test_what_may_be_a_question_is_one(said: str) -> None:
    assert to_command_text(said, TABLE) is None


def test_every_command_that_takes_something_has_forms_of_its_own() -> None:
    taking = {name for name, command in whole_table().table.items() if command.options}
    assert taking == set(_ARGUMENTS)


@pytest.mark.parametrize(
    "said", ["position a{}b", "page a{}b", "summary a{}--privat", "stop{}pleas", "settings sources{}x y"]
)
def test_long_runs_of_space_are_passed_over_at_once(said: str) -> None:
    """Each of these takes hours where every space is tried with every other."""
    for filling in (" " * 1_000_000, " x" * 1_000_000):
        taken = to_command_text(said.format(filling), TABLE)
        assert taken is None or taken.startswith("/")


def test_only_commands_of_the_table_are_taken() -> None:
    assert to_command_text("stop", ["help"]) is None
    assert to_command_text("/stop", ["help"]) is None
    assert to_command_text("search wild magic", ["help"]) is None


@given(st.text(), st.sampled_from(TABLE))
@example("\x1c", "search")
@example("=1", "position")
def test_a_command_keeps_its_words_and_is_one_for_the_inbox(words: str, name: str) -> None:
    taken = to_command_text(f"{name} {words}", TABLE)
    if taken is not None:
        line = to_command(taken)
        assert line is not None
        assert line.name == name
        assert line.argument in words


@given(st.text())
def test_whatever_ends_in_a_question_mark_is_no_command_without_a_slash(words: str) -> None:
    assert to_command_text(f"stop {words}?", TABLE) is None


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("/mute only works in threads.", "@footnote mute only works in threads."),
        ("`/settings answer_posts on`", "`/footnote settings answer_posts on`"),
        ("use /threads mine or here.", "use /footnote threads mine or here."),
        ("ask something first, or /open one.", "ask something first, or /footnote open one."),
        ("(/threads lists them)", "(/footnote threads lists them)"),
        ("did you mean /stop or /sources?", "did you mean /footnote stop or /footnote sources?"),
        ("Unknown command /nothing:", "Unknown command /nothing:"),
        ("/help.", "/footnote help."),
        ("https://example.org/stop and /slack/install", "https://example.org/stop and /slack/install"),
        ("either and/or help/stop", "either and/or help/stop"),
        ("/help.html, /stop-words, ./stop, ~/stop, /Stop", "/help.html, /stop-words, ./stop, ~/stop, /Stop"),
        ("/footnote stop", "/footnote stop"),
        ("stop", "stop"),
    ],
)
def test_commands_in_sentences_are_named_as_slack_has_them(sentence: str, shown: str) -> None:
    assert format_command_names(sentence, TABLE, in_thread=False) == shown


def test_in_threads_commands_are_given_by_mention() -> None:
    shown = format_command_names("`/settings limit 5`, /stop or and/or.", TABLE, in_thread=True)
    assert shown == "`@footnote settings limit 5`, @footnote stop or and/or."


@given(st.text(), st.booleans())
def test_naming_twice_changes_nothing_more(text: str, in_thread: bool) -> None:
    once = format_command_names(text, TABLE, in_thread=in_thread)
    assert format_command_names(once, TABLE, in_thread=in_thread) == once


async def test_every_sentence_of_help_names_its_command_as_slack_has_it() -> None:
    address = ThreadAddress(platform="slack", workspace="local", channel="C1", thread="")
    call = CommandCall(name="help", argument="all", workspace="local", conversation=None, author="U1", address=address)
    shown = format_command_names((await whole_table().run(call)).text, TABLE, in_thread=False)
    assert {name for name in TABLE if f"`/footnote {name}" not in shown} == FOR_THREADS
    assert all(f"`@footnote {name}`" in shown for name in FOR_THREADS)
