"""Texts that answers may have, for property tests: plain, marked up, hostile, and in all scripts."""

import re

from hypothesis import strategies as st

ZERO_WIDTH = "\u200b"
DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u206f"
GOOD = "https://viewer.example/s/abc"  # the one address that may be clicked

HOSTILE = [
    "@everyone",
    "@here",
    "\\@everyone",
    "<@123456789012345678>",
    "<@&123456789012345678>",
    "<#123456789012345678>",
    "<!channel>",
    "<!here>",
    "<!subteam^S012345|team>",
    "<!date^1392734382^{date}^https://evil.example|then>",
    "<@U012345>",
    "<#C012345|general>",
    "&lt;!channel&gt;",
    "&amp;lt;!channel&amp;gt;",
    "&#60;!channel&#62;",
    "`<mailto:a@evil.example|mail>`",
    "www.evil.example",
    "ada@evil.example",
    "</ask:123456789012345678>",
    "https://evil.example/x",
    "HTTPS://evil.example/x_(y)",
    "xhttps://evil.example",
    "\\https://evil.example",
    "<https://evil.example>",
    "<mailto:a@evil.example>",
    "steam://run/1",
    "steam://run/1steam://run/1",
    f"{GOOD}?u=https://evil.example",
    "discord.gg/abc",
    "[text](https://evil.example)",
    "[[1]](https://evil.example)",
    "[1](https://evil.example)",
    "![image](https://evil.example/a.png 'title')",
    "[a\n](https://evil.example)",
    "[a]",
    "[a]: https://evil.example",
    "\n[1]: word",
    "(https://evil.example)",
    "|| `x || https://evil.example",
    "** `x ** https://evil.example",
    "`https://evil.example",
    "`@everyone`",
    "<",
    "@",
    "everyone",
    "![",
    "](",
    "\\",
    *DIRECTION_MARKS,
    "\x00",
    "\ud800",
    f"[good]({GOOD})",
    GOOD,
]
MARKED_UP = [
    "# Heading",
    "##### Deep heading",
    "- item",
    "  - nested item",
    "1. first",
    "> quote",
    ">>> quote",
    "**bold** and *italic*",
    "`code`",
    "``a ` b``",
    "`",
    "```",
    "```python",
    "````",
    "~~~",
    "    indented",
    "||spoiler||",
    "[[note]]",
    "[?]",
    "\\* escaped \\`",
    "-# small",
    "---",
]
SCRIPTS = [
    "שלום עולם וברכה",
    "مرحبا بالعالم",
    "日本語の文章です。次の文。",
    "👩‍👩‍👧‍👦🏽🇩🇪🇫🇷",
    "e\u0301a\u0308",
    "Z" + "\u0335\u0321\u0489" * 30,
    "x" * 700,
    "한국어 문장",
    "word " * 120,
    "A sentence ends here. Another begins [1] there! A third [2][3]?",
]
TABLES = ["| a | b |\n|---|--:|\n| x [1] | @everyone |", "|a|\n|-|\n" + "|https://evil.example|\n" * 40]
_unshown = "".join(chr(code) for code in [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070)])
_letters = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters=f"|:{_unshown}"))
_joints = st.sampled_from(["", " ", "\n", "\n\n"])


def _joined(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(pieces, _joints), max_size=25)
    return pairs.map(lambda found: "".join(piece + joint for piece, joint in found))


# Without tables and addresses, which are shown in other words.
_tame = [f"{piece}\n" if piece.startswith(("```", "~~~")) else piece for piece in MARKED_UP if piece != "```python"]
tame_texts = _joined(st.one_of(st.sampled_from(_tame + SCRIPTS), _letters))
any_texts = _joined(st.one_of(st.sampled_from(HOSTILE + MARKED_UP + SCRIPTS + TABLES), st.text(max_size=30)))

_CLICKABLE = re.compile(r"[a-z][\w+.-]*://|discord(?:app)?\.(?:gg|com/invite)/", re.IGNORECASE)
# Mentions as Slack and Discord document them, and addresses in `<...>`. Others stay as they are, for code: `exec <&3`,
# `</div>`, `<!--`.
_PING = re.compile(
    r"@(?:everyone|here|channel)|<[@#][!&]?\w|<!\w|</[^<>\n]{1,100}:\d|<a?:\w|<(?:t|id):|(?<!\\)<[a-z][\w+.-]*:/",
    re.IGNORECASE,
)


def clickable(text: str) -> list[str]:
    """What a client might open: everything that looks like an address, in code too, but for the good one."""
    return [text[m.start() : m.start() + 60] for m in _CLICKABLE.finditer(text) if not text.startswith(GOOD, m.start())]


def pings(text: str) -> list[str]:
    """What a client might take for a mention, wherever it stands."""
    return _PING.findall(text)


def open_fences(text: str) -> int:
    """How many fences a part leaves open: 0 or 1."""
    return text.count("```") % 2


def bare(text: str) -> str:
    """What people read, in order: without white space and the signs of Markdown."""
    return re.sub(r"[\s`~*>#<\\\[\]()\u200b\ufeff!|-]", "", text)
