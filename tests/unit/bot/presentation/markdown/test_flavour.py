from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.presentation.markdown.flavour import (
    LONGEST_ADDRESS,
    Flavour,
    clean,
    clip,
    columns,
    link_target,
    safe_cut,
    units,
)
from tests.unit.bot.markdown_texts import DIRECTION_MARKS

SHOWN = Flavour(breaker="¦", is_allowed=lambda address: address.startswith("https://good.example"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@everyone and @Here", "@¦everyone and @¦Here"),
        ("mail@example.org", "mail@example.org"),
        ("<@12> <@&12> <#12>", "\\<¦@12> \\<¦@&12> \\<¦#12>"),
        ("<!channel>", "\\<¦!channel>"),
        ("\\<@12>", "\\<¦@12>"),
        ("1 < 2", "1 < 2"),
        ("obsidian://x", "obsidian:¦//x"),
        ("[a](b)", "[a]¦(b)"),
        ("[a]: b\n see [a]: b", "[a]¦: b\n see [a]: b"),
        ("discord.gg/abc xDISCORD.com/invite/a", "discord¦.gg/abc xDISCORD¦.com/invite/a"),
    ],
)
def test_pings_and_addresses_are_broken_but_read_the_same(text: str, expected: str) -> None:
    assert SHOWN.harmless(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("guide.md and ada@mail.example", "guide.¦md and ada@mail.¦example"),
        ("a\\.example", "a\\.¦example"),
        ("e.g. 3.14. Then.Next 1.2b", "e.g. 3.14. Then.¦Next 1.2b"),
    ],
)
def test_names_of_hosts_are_broken_where_clients_link_them(text: str, expected: str) -> None:
    assert replace(SHOWN, links_hosts=True).harmless(text) == expected
    assert SHOWN.harmless(text) == text


def test_neutral_text_gets_no_sign_that_is_seen() -> None:
    assert SHOWN.neutral("<@U1> 1 < 2 *a* `b` [c](d)\x00") == "<¦@U1> 1 <¦ 2 *a* `b` [c]¦(d)"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("List<String> x = a[0](b);", "List<String> x = a[0](b);"),
        ("if a < b: </div>", "if a < b: </div>"),
        ("@here <@12> <!channel>", "@¦here <¦@12> <¦!channel>"),
        ("curl https://evil.example/x", "curl https:¦//evil.example/x"),
        ("curl https://good.example/x", "curl https://good.example/x"),
        ("steam://a.example/steam://b", "steam:¦//a.example/steam:¦//b"),
        ("https://good.example?u=https://evil.example", "https:¦//good.example?u=https:¦//evil.example"),
        ("</ask:123>", "<¦/ask:123>"),
        ("<mailto:a@b.example> <!date^1^x>", "<¦mailto:a@b.example> <¦!date^1^x>"),
    ],
)
def test_code_is_touched_as_little_as_can_be(code: str, expected: str) -> None:
    assert SHOWN.harmless_code(code) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*a* _b_ `c` ~d~ ||e||", "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~ \\|\\|e\\|\\|"),
        ("# a\n> b\n- c\n1. d\n+ e", "\\# a\n\\> b\n\\- c\n1\\. d\n\\+ e"),
        ("[a](b)", "\\[a\\]\\(b\\)"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_plain_text_shows_its_signs(text: str, expected: str) -> None:
    assert SHOWN.plain(text) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"),
        ("https://a.example/(x) y", "https://a.example/%28x%29%20y"),
        ("https://a.example?u=https://b.example", "https://a.example?u=https%3A//b.example"),
        ("https://a.example/@everyone", "https://a.example/%40everyone"),
        ("https://a.example/" + "x" * LONGEST_ADDRESS, None),
        ("javascript:alert(1)", None),
        ("https://", None),
        ("/relative", None),
        (None, None),
    ],
)
def test_only_web_addresses_of_a_bearable_length_are_linked(address: str | None, expected: str | None) -> None:
    assert link_target(address) == expected


def test_a_link_without_an_address_is_its_label() -> None:
    assert SHOWN.linked("a [b]", "https://a.example") == "[a \\[b\\]](https://a.example)"
    assert SHOWN.linked("a [b]", None) == "a \\[b\\]"


def test_what_a_platform_escapes_is_escaped_last() -> None:
    slack = Flavour(escape=lambda text: text.replace("&", "&amp;"), link=lambda label, address: f"{address}|{label}")
    assert slack.plain("a & b") == "a &amp; b"
    assert slack.linked("a & b", "https://a.example") == "https://a.example|a &amp; b"


def test_the_defaults_link_nothing_and_leave_footnotes_plain() -> None:
    assert not Flavour().is_allowed("https://a.example")
    assert Flavour().footnote(3) == "[3]"
    assert Flavour().link("a", "b") == "[a](b)"


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("שלום", 4), ("🙂", 2), ("e\u0301", 2), ("", 0)])
def test_length_is_counted_as_clients_count(text: str, expected: int) -> None:
    assert units(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x1bc\x7f", "abc"),
        *((f"pay {mark}txt.exe", "pay txt.exe") for mark in DIRECTION_MARKS),
        ("half \ud83d sign", "half \ufffd sign"),
        ("tab\there", "tab\there"),
    ],
)
def test_what_hides_or_breaks_a_text_is_taken_out(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abcdef", 3, 3),
        ("abc", 3, 3),
        ("abe\u0301f", 3, 2),  # not between a letter and its accent
        ("ab👍🏽", 4, 2),  # not between a hand and its colour
        ("a👩\u200d👧b", 5, 1),  # not inside a family
        ("🇩🇪🇫🇷", 6, 2),  # not inside a flag
        ("a\\*b", 2, 1),  # not behind the backslash that escapes
        ("a\\\\b", 3, 3),
        ("e" + "\u0301" * 200, 100, 100),  # a heap of marks is cut all the same
    ],
)
def test_a_cut_keeps_whole_what_people_see_as_one_sign(text: str, limit: int, expected: int) -> None:
    assert safe_cut(text, limit) == expected


@given(st.text(min_size=1), st.integers(2, 50))
def test_a_cut_makes_progress_and_stays_within_the_limit(text: str, limit: int) -> None:
    place = safe_cut(text, limit)
    assert 1 <= place <= len(text)
    assert units(text[:place]) <= limit


@given(st.text(), st.integers(3, 50))
def test_a_clipped_text_is_one_short_line(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert units(clipped) <= limit
    assert "\n" not in clipped


def test_a_text_that_fits_is_only_put_on_one_line() -> None:
    assert clip("  two\n words ", 20) == "two words"
    assert clip("two words more", 10) == "two words…"


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("🙂", 2)])
def test_width_in_columns(text: str, expected: int) -> None:
    assert columns(text) == expected
