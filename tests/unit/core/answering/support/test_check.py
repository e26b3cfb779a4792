"""What a quote supports before its meaning is compared."""

import pytest

from core.answering.support.check import Claim, SupportCheck
from core.domain.support import Closeness, Verdict


class Unlike:
    """A SupportModel to which no text says the same."""

    async def closeness(self, sentence: str, quotes: object) -> Closeness:
        return Closeness(mean=0.0, lowest=0.0, weakest=0.0, far=1.0, whole=0.0, strange=0.0, back=0.0)


async def verdict_on(sentence: str, quote: str) -> Verdict:
    [judgement] = await SupportCheck(Unlike()).judge([Claim(sentence=sentence, quotes=[quote])])
    return judgement.verdict


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Ann keeps the key.", "Ann keeps the key under the stairs of the old mill."),
        ("The rope is 30 m long.", "Bring the rope. The rope is 30 m long and weighs 2 kg."),
        ("Der Laden öffnet um neun.", "Der Laden öffnet um neun, die Werkstatt um zehn."),
    ],
)
async def test_a_quote_supports_the_beginning_of_its_sentence(sentence: str, quote: str) -> None:
    assert await verdict_on(sentence, quote) is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Dogs may enter the garden.", "Dogs may enter the garden only on a lead."),
        ("The tower is open daily.", "The tower is open daily or by appointment."),
        ("We don't serve wine.", "We don't serve wine after ten."),
        ("Ann keeps the key.", "Nobody believes that Ann keeps the key."),
    ],
)
async def test_not_if_it_denies_or_is_taken_back(sentence: str, quote: str) -> None:
    assert await verdict_on(sentence, quote) is not Verdict.SUPPORTED
