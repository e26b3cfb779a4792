"""Where a command's output goes."""

import io
import json
import sys

import pytest

from bot.runtime.system import to_json_text


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", '["ë🎲"]'), ("ascii", '["\\u00eb\\ud83c\\udfb2"]')])
def test_json_fits_the_encoding_of_the_output(encoding: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))

    text = to_json_text(["ë🎲"])

    assert text == expected
    assert json.loads(text) == ["ë🎲"]
