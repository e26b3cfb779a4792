import pytest

from core.domain.reader_kinds import READER_KINDS, parse_kind
from core.errors import BadInput


def test_a_kind_is_itself_and_auto_is_none() -> None:
    assert parse_kind("pdf") == "pdf"
    assert parse_kind("auto") is None


def test_an_unknown_kind_raises_an_error_that_lists_the_kinds() -> None:
    listed = f"{', '.join(READER_KINDS[:-1])} or {READER_KINDS[-1]}"
    with pytest.raises(BadInput, match=f"'wordperfect' to read files as: use auto, {listed}"):
        parse_kind("wordperfect")
