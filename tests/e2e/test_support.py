"""Support of sentences and honest replies, whole way: app, agent loop, real SDKs over HTTP, proof, check, repair.

The right answer is kept and the wrong one stopped, in English, German and Spanish, with native citations and markers.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import Parts, build_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.answers.sentences import say
from core.domain.answer import Answer, AnswerStatus, ReferenceType
from tests.anthropic_server import AnthropicServer, Call, Cite, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.test_anthropic_answers import billed
from tests.fakes import RecordingProgress
from tests.openai_server import KEY as OPENAI_KEY
from tests.openai_server import MODEL as OPENAI_MODEL
from tests.openai_server import Call as OpenAICall
from tests.openai_server import Kind, OpenAIServer
from tests.openai_server import Reply as OpenAIReply
from tests.openai_server import Say as OpenAISay

WAIT = "Wait a full minute."
BUTTON = "Hold the green button for eight seconds, until the fan stops."
SEARCH = Call("search", {"query": "restart the gate controller"})
REPORT = "reports/season-2025.pdf"
PICTURE = say("page_picture", pages="page 2 of “The season of 2025”")
FROM_LISTS = say("from", sources=say("library_lists"))
UNFOUNDED = say("not_from_documents")
NOTHING = Call("search", {"query": "Alter des Bürgermeisters"})


async def ask(app: Parts, text: str = "How do I restart the gate controller?") -> Answer:
    return await build_pipeline(app).answer(question_message("local", text), RecordingProgress())


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def server(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> AnthropicServer:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return await stack.enter_async_context(AnthropicServer())


@pytest.fixture
async def app(stack: AsyncExitStack, server: AnthropicServer, data_dir: Path) -> Parts:
    settings = {"name": "anthropic", "model": MODEL, "base_url": server.url, "stall_seconds": 60, "max_retries": 0}
    return await build_parts(Config.model_validate({"data_dir": data_dir, "provider": settings}), stack)


@pytest.mark.parametrize(
    "claim",
    [
        "Hold the green button for nine seconds, until the fan stops.",
        "Do not hold the green button for eight seconds until the fan stops.",
        "Halte den grünen Knopf 80 Sekunden lang gedrückt.",
        "Queen Lolth, a drow priestess, holds the green button.",
        "Mantén pulsado el botón verde durante 18 segundos.",
    ],
)
async def test_a_sentence_that_its_quote_does_not_support_is_repaired_once(
    app: Parts, server: AnthropicServer, claim: str
) -> None:
    repaired = "Hold the green button for eight seconds, until the fan stops. [1]"
    server.script(Reply.of(SEARCH), Reply.of(Say(claim, cites=(Cite(BUTTON),))), Reply.of(repaired))
    answer = await ask(app)

    assert (answer.status, answer.unsupported) == (AnswerStatus.ANSWERED, ())
    assert claim not in answer.text
    assert "eight seconds" in answer.text
    told = server.requests[-1]["messages"][-1]["content"]
    assert f"Not supported:\n\n- {claim}" in (told if isinstance(told, str) else told[0]["text"])


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("Hold the green button for nine seconds, until the fan stops.", f"{BUTTON}”[1]"),
        ("Press the green button because the mayor asked for it.", "[?]"),
    ],
)
async def test_what_a_repair_leaves_wrong_is_corrected_by_the_quote_or_marked(
    app: Parts, server: AnthropicServer, claim: str, shown: str
) -> None:
    server.script(Reply.of(SEARCH), Reply.of(Say(claim, cites=(Cite(BUTTON),))), Reply.of(f"{claim} [1]"))
    answer = await ask(app)

    assert shown in answer.text
    assert ("nine seconds" in answer.text, answer.grounded) == (False, "[?]" not in shown)


async def checked_by(
    stack: AsyncExitStack, server: AnthropicServer, data_dir: Path, which: str, *replies: Reply
) -> tuple[Answer, str]:
    """The answer of an app whose model checks these sentences, and the last thing that the model was told."""
    provider = {"name": "anthropic", "model": MODEL, "base_url": server.url, "stall_seconds": 60, "max_retries": 0}
    settings = {"data_dir": data_dir, "provider": provider, "agent": {"check_support": which}}
    server.script(Reply.of(SEARCH), *replies)
    answer = await ask(await build_parts(Config.model_validate(settings), stack))
    told = server.requests[-1]["messages"][-1]["content"]
    return answer, told if isinstance(told, str) else told[0].get("text", "")


async def test_the_model_may_clear_a_sentence_of_which_the_local_check_is_unsure(
    stack: AsyncExitStack, server: AnthropicServer, data_dir: Path
) -> None:
    said = Reply.of(Say("Keep the verdant knob pushed till the ventilator halts.", cites=(Cite(BUTTON),)))
    answer, told = await checked_by(stack, server, data_dir, "all", said, Reply.of("1: supported"))

    assert (answer.text[-3:], answer.unsupported) == ("[1]", ())
    assert told.startswith("1. Sentence: Keep the verdant knob") and BUTTON in told
    assert answer.usage == billed(server.usages)


async def test_the_model_may_find_a_fault_that_the_local_check_misses(
    stack: AsyncExitStack, server: AnthropicServer, data_dir: Path
) -> None:
    wrong = "Hold the green button for eight seconds, until the fan stops for good."
    replies = (Reply.of(Say(wrong, cites=(Cite(BUTTON),))), Reply.of("1: contradicted"), Reply.of(f"{BUTTON} [1]"))
    answer, told = await checked_by(stack, server, data_dir, "all", *replies)

    assert f"Not supported:\n\n- {wrong}" in told
    assert answer.text == f"{BUTTON}[1]"


@pytest.mark.parametrize("reply", ["I think they are fine.", "7: contradicted"])
async def test_a_reply_that_is_no_verdict_changes_none(
    stack: AsyncExitStack, server: AnthropicServer, data_dir: Path, reply: str
) -> None:
    said = "For eight seconds, hold the green button."
    answer, _ = await checked_by(
        stack, server, data_dir, "all", Reply.of(Say(said, cites=(Cite(BUTTON),))), Reply.of(reply)
    )

    assert (answer.text, answer.unsupported) == (f"{said}[1]", ())


async def test_the_model_is_not_asked_about_what_the_local_check_is_sure_of(
    stack: AsyncExitStack, server: AnthropicServer, data_dir: Path
) -> None:
    said = "Hold the green button for eight seconds."
    await checked_by(stack, server, data_dir, "doubtful", Reply.of(Say(said, cites=(Cite(BUTTON),))))

    assert len(server.requests) == 2


async def test_a_citation_covers_the_sentences_of_its_block(app: Parts, server: AnthropicServer) -> None:
    said = "Hold the green button for eight seconds. Stop when the fan stops."
    server.script(Reply.of(SEARCH), Reply.of(Say(said, cites=(Cite(BUTTON),))))
    answer = await ask(app)

    assert (answer.text, answer.unsupported) == (f"{said}[1]", ())


async def test_brackets_of_a_models_own_text_are_no_footnotes(app: Parts, server: AnthropicServer) -> None:
    said = "As step two [1] says, hold the green button for eight seconds."
    server.script(Reply.of(SEARCH), Reply.of(Say(said, cites=(Cite(BUTTON),))))
    answer = await ask(app)

    assert r"step two \[1\] says" in answer.text
    assert [citation.number for citation in answer.citations] == [1]


@pytest.mark.parametrize(
    "said",
    [
        "Dazu habe ich in den Dokumenten nichts gefunden.",
        "No encontré nada sobre eso en los documentos.",
        "I couldn't find the mayor's age, though the council's minutes name her.",
        "Nothing in the documents says how old she is. Let me know if you need anything else.",
    ],
)
async def test_a_not_found_in_the_models_own_words_and_language_stays(
    app: Parts, server: AnthropicServer, said: str
) -> None:
    server.script(Reply.of(NOTHING), Reply.of(said))
    answer = await ask(app, "Wie alt ist die Bürgermeisterin?")

    assert answer.status is AnswerStatus.NOT_FOUND
    assert answer.text == f"{said}\n\n(Gesucht: „Alter des Bürgermeisters“.)"


async def test_what_a_tool_says_of_the_library_is_an_answer(app: Parts, server: AnthropicServer) -> None:
    page = Call("get_page", {"document": "reports/season-2025.pdf", "page_number": 99})
    said = "There is no page 99; the document has three pages."
    server.script(Reply.of(page), Reply.of(said))
    answer = await ask(app, "What is on page 99 of the season report?")

    assert (answer.status, answer.text) == (
        AnswerStatus.ANSWERED,
        f"{said}\n\n{FROM_LISTS}",
    )


@pytest.mark.parametrize("said", ["The north arrow is red.", "Der Nordpfeil ist rot.", "La flecha norte es roja."])
async def test_what_a_model_saw_in_a_picture_names_the_page(app: Parts, server: AnthropicServer, said: str) -> None:
    page = Call("get_page", {"document": REPORT, "page_number": 2, "picture": True})
    server.script(Reply.of(page), Reply.of(said), Reply.of(said))
    answer = await ask(app, "Which colour is the north arrow of the map in the season report?")

    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, f"{said}\n\n(From {PICTURE}.)")
    [picture] = [item for item in answer.references if item.type is ReferenceType.PICTURE]
    assert (picture.label, picture.document) == ("The season of 2025, page 2", REPORT)
    assert answer.rests_on is not None and picture.document_id in answer.rests_on.documents
    assert not answer.grounded


async def test_what_a_model_saw_in_a_part_of_a_picture_names_the_part(app: Parts, server: AnthropicServer) -> None:
    page = Call("get_page", {"document": REPORT, "page_number": 2, "picture": True, "part": "top half"})
    server.script(Reply.of(page), Reply.of("Der Nordpfeil ist rot."), Reply.of("Der Nordpfeil ist rot."))
    answer = await ask(app, "Welche Farbe hat der Nordpfeil der Karte im Bericht zur Saison?")

    assert "dem Bild von der oberen Hälfte von Seite 2 von „The season of 2025“" in answer.text
    [picture] = [item for item in answer.references if item.type is ReferenceType.PICTURE]
    assert picture.label == "The season of 2025, page 2, top half"


async def test_what_a_model_saw_is_told_apart_from_what_it_quotes(app: Parts, server: AnthropicServer) -> None:
    page = Call("get_page", {"document": REPORT, "page_number": 2, "picture": True})
    replies = [Reply.of(Say(BUTTON, cites=(Cite(BUTTON),)), "\n\nThe north arrow is red.") for _ in range(2)]
    server.script(Reply.of(SEARCH, page), *replies)
    answer = await ask(app)

    assert answer.text == f"{BUTTON}[1]\n\nThe north arrow is red.\n\n(Without a footnote: from {PICTURE}.)"


async def test_without_a_picture_the_same_sentence_is_left_out(app: Parts, server: AnthropicServer) -> None:
    page = Call("get_page", {"document": REPORT, "page_number": 2})
    server.script(Reply.of(page), *[Reply.of("The north arrow is red.")] * 2)
    answer = await ask(app, "Which colour is the north arrow of the map in the season report?")

    assert answer.status is AnswerStatus.NOT_FOUND
    assert "north arrow is red" not in answer.text


async def test_what_an_ontology_tells_is_an_answer_about_the_library(app: Parts, server: AnthropicServer) -> None:
    said = "The library's documents also call the Fleet notes “The boats” and “Vessels”."
    server.script(Reply.of(Call("get_ontology", {"about": "Fleet"})), Reply.of(said))
    answer = await ask(app, "What else is the fleet called in the notes?")

    assert (answer.status, answer.text) == (
        AnswerStatus.ANSWERED,
        f"{said}\n\n{FROM_LISTS}",
    )


async def test_a_relation_has_the_passage_behind_it_as_its_footnote(app: Parts, server: AnthropicServer) -> None:
    follow = Call("follow_relation", {"name": "Soaked", "kind": "links to", "direction": "target"})
    said = "A called creature that reaches the water is soaked."
    server.script(Reply.of(follow), Reply.of(Say(said, cites=(Cite("A called creature that reaches the water is"),))))
    answer = await ask(app, "Which rules of the sea lead to being soaked?")

    assert (answer.text, answer.grounded) == (f"{said}[1]", True)
    assert answer.citations[0].heading_path[-1:] == ("Called by the sea",)


async def test_an_uncited_sentence_that_a_passage_says_gets_its_footnote(app: Parts, server: AnthropicServer) -> None:
    said = "Hold the green button for eight seconds, until the fan stops."
    server.script(Reply.of(SEARCH), Reply.of(said), Reply.of(said))
    answer = await ask(app)

    assert (answer.status, answer.text, answer.grounded) == (AnswerStatus.ANSWERED, f"{said}[1]", True)
    assert BUTTON in answer.citations[0].quote


@pytest.mark.parametrize(("said", "label"), [("You're welcome!", ""), ("Paris lies on the Seine.", UNFOUNDED)])
async def test_small_talk_has_no_label(app: Parts, server: AnthropicServer, said: str, label: str) -> None:
    server.script(Reply.of(said))
    answer = await ask(app, "That was a long day for all of us.")  # courtesies that need no model don't reach it

    assert answer.text == "\n\n".join(filter(None, [said, label]))


async def test_a_cut_answer_ends_at_its_last_sentence_and_can_be_continued(app: Parts, server: AnthropicServer) -> None:
    cut = Reply.of(Say(BUTTON, cites=(Cite(BUTTON),)), " It was rul", stop_reason="max_tokens")
    server.script(Reply.of(SEARCH), cut)
    answer = await ask(app)

    assert (answer.text, answer.partial) == (f"{BUTTON}[1]\n\n{say('cut')}", True)
    assert answer.suggestions[0] == say("continue")


async def test_markers_of_a_chat_completions_model_are_checked_alike(
    stack: AsyncExitStack, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    server = await stack.enter_async_context(OpenAIServer(Kind()))
    settings = {"name": "openai_compatible", "base_url": server.url, "model": OPENAI_MODEL, "max_retries": 0}
    app = await build_parts(Config.model_validate({"data_dir": data_dir, "provider": settings}), stack)
    claim = "Hold the green button for nine seconds, until the fan stops. "
    server.script(
        OpenAIReply.of(OpenAICall("search", {"query": "restart the gate controller"})),
        OpenAIReply.of(OpenAISay(claim, cites=(BUTTON,))),
        OpenAIReply.of("Hold the green button for eight seconds, until the fan stops. [1]"),
    )
    answer = await ask(app)

    assert (answer.status, "nine" in answer.text, "eight seconds" in answer.text) == (
        AnswerStatus.ANSWERED,
        False,
        True,
    )
