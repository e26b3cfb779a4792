import pytest

from bot.presentation.markdown import units
from bot.presentation.markdown.flavour import Flavour
from bot.presentation.markdown.inline import LONGEST_WORD, code_tokens, cut, to_tokens

GOOD = "https://good.example"
SHOWN = Flavour(
    breaker="¦",
    footnote=lambda number: f"[[{number}]]({GOOD})" if number < 10 else None,
    is_allowed=lambda address: address.startswith(GOOD),
)


def shown(line: str) -> str:
    return "".join(token.text for token in to_tokens(line, SHOWN, 200))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mat [1], door [2][3]", f"mat [[1]]({GOOD}), door [[2]]({GOOD})[[3]]({GOOD})"),
        ("both [1, 2]", f"both [[1]]({GOOD})[[2]]({GOOD})"),
        ("no note [10], [1, 10]", "no note [10], [1, 10]"),
        ("\\[1] `[1]` [[1]]", "\\[1] `[1]` [[1]]"),
        ("[1](https://evil.example)", "1 (`evil.example`)"),
        ("[[1]](https://evil.example)", "[1] (`evil.example`)"),
        ("https://evil.example/x[1].", f"`evil.example/x`[[1]]({GOOD})."),
    ],
)
def test_footnotes_become_links_and_nothing_else_does(line: str, expected: str) -> None:
    assert shown(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("see https://evil.example/x.", "see `evil.example/x`."),
        ("see (https://evil.example/x)", "see (`evil.example/x`)"),
        ("[text](https://evil.example)", "text (`evil.example`)"),
        ("[https://evil.example](https://evil.example)", "`evil.example`"),
        ("![picture](https://evil.example/a.png)", "picture (`evil.example/a.png`)"),
        ("<https://evil.example> <mailto:a@b.example>", "`evil.example` `a@b.example`"),
        ("[x](javascript:alert)", "x (`javascript:alert`)"),
        ("obsidian://open?x", "`obsidian:¦//open?x`"),
        ("[a](b) and a[0](1)", "[a]¦(b) and a[0]¦(1)"),
        ("[good *one*](https://good.example/a_b)", "[good one](https://good.example/a_b)"),
        ("https://good.example/a.", "[https:¦//good.example/a](https://good.example/a)."),
        ("discord.gg/abc", "`discord¦.gg/abc`"),
        ("https://", "https:¦//"),
    ],
)
def test_only_allowed_links_stay_links(line: str, expected: str) -> None:
    assert shown(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("`code`", "`code`"),
        ("``a`b``", "``a`b``"),
        ("`` `a` ``", "`` `a` ``"),
        ("```code```", "`code`"),
        ("```a `` b```", "``a `¦` b``"),
        ("a ` b", "a \\` b"),
        ("\\`a` b`", "\\`a` b`"),
        ("`a https://evil.example`", "`a https:¦//evil.example`"),
        ("\\https://evil.example", "\\\\`evil.example`"),
    ],
)
def test_code_comes_out_in_one_form_and_lone_backticks_escaped(line: str, expected: str) -> None:
    assert shown(line) == expected


def test_tokens_know_their_footnotes_and_where_words_and_sentences_end() -> None:
    tokens = to_tokens("One. Two [1]", SHOWN, 200)
    assert [(token.text[:4], token.numbers) for token in tokens] == [("One.", ()), ("Two ", ()), ("[[1]", (1,))]
    assert [token.ends_sentence for token in tokens] == [True, False, False]
    assert [token.ends_word for token in tokens] == [True, True, False]


def test_long_words_and_long_code_are_cut() -> None:
    tokens = to_tokens("x" * 500 + " `" + "y" * 500 + "`", SHOWN, 200)
    assert max(units(token.text) for token in tokens if not token.is_code) <= LONGEST_WORD
    assert max(units(token.text) for token in tokens) <= 200
    assert "".join(token.text for token in tokens).count("y") == 500


def test_a_footnote_whose_link_is_too_long_stays_a_number() -> None:
    far = Flavour(footnote=lambda number: f"[[{number}]](https://good.example/{'x' * 900})")
    assert [token.text for token in to_tokens("[1]", far, 200)] == ["[1]"]


def test_code_cannot_close_its_fence() -> None:
    assert "".join(token.text for token in code_tokens("a ``` b ````", SHOWN)) == "a ``¦` b ``¦``¦"


def test_pieces_of_a_cut_are_the_whole() -> None:
    assert list(cut("abcdefg", 3)) == ["abc", "def", "g"]
    assert list(cut("", 3)) == []
