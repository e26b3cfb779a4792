"""Sentences that say what their quote says, nearly in its words, by the packaged model of meaning."""

from collections.abc import Sequence

from core.answering.support.check import Claim, SupportCheck
from core.domain.support import Verdict
from storage.models.local.encoders import CrossEncoderSupport
from storage.models.local.files import support_model
from tests.training.claim_pairs import CLAIMS, light_edits, read_own

NEAR = CLAIMS / "near.txt"
MOST_MARKED = 0.1  # of sentences that are true
MOST_PASSED = 0.1  # of those with another quote


async def marked(claims: Sequence[Claim]) -> list[str]:
    judged = await SupportCheck(CrossEncoderSupport(support_model())).judge(claims)
    return [claim.sentence for claim, one in zip(claims, judged, strict=True) if one.verdict is not Verdict.SUPPORTED]


def quotes_of(row: object) -> list[str]:
    return [str(quote) for quote in row["evidence"]]  # type: ignore[index]  # a row of the file


async def test_few_sentences_in_the_words_of_their_quote_are_marked() -> None:
    rows = read_own(NEAR.read_text("utf-8"))
    claims = [Claim(sentence=str(row["sentence"]), quotes=quotes_of(row)) for row in rows if row["kind"] == "near"]
    found = await marked(claims)
    assert len(claims) == 70
    assert len(found) <= MOST_MARKED * len(claims), found


async def test_the_words_of_another_quote_are_marked() -> None:
    rows = [row for row in read_own(NEAR.read_text("utf-8")) if row["kind"] == "near"]
    claims = [
        Claim(sentence=str(row["sentence"]), quotes=quotes_of(other))
        for row, other in zip(rows, rows[35:] + rows[:35], strict=True)
    ]
    assert len(await marked(claims)) >= (1 - MOST_PASSED) * len(claims)


def test_light_edits_join_cut_and_move() -> None:
    made = light_edits(["In 2025 the gate was red. It hangs in the hall, which is cold, behind a curtain."])
    assert {
        "In 2025 the gate was red; it hangs in the hall, which is cold, behind a curtain.",
        "According to the document, in 2025 the gate was red.",
        "In the hall, which is cold, behind a curtain.",
        "It hangs in the hall behind a curtain.",
        "It hangs in the hall.",
    } <= set(made)
