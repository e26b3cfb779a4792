"""Number formats of spreadsheet cells: what makes 0.125 a share of 12.5 % and 1200 a sum of € 1,200.00. Pure.

Only formats that say what a number is (percent, currency) are applied, with the decimals they ask for; others only say
how it looks.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Formats that workbooks name by number alone.
BUILT_IN: Mapping[int, str] = {
    5: '"$"#,##0',
    6: '"$"#,##0',
    7: '"$"#,##0.00',
    8: '"$"#,##0.00',
    9: "0%",
    10: "0.00%",
    42: '"$"#,##0',
    44: '"$"#,##0.00',
}
MOST_DECIMALS = 10

_PART = re.compile(r'"[^"]*"|\\.|\[\$[^\]]*\]|\[[^\]]*\]|_.|\*.|[0#?][0#?,.]*|.', re.DOTALL)
_SYMBOL = re.compile(r"[$€£¥₹₽₩₺₴₪₫฿¢]|\b(?:[A-Z]{3}|kr|zł|Kč|Ft|lei)\b\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """`before` and `after` are what stands around the number, spaces between them included."""

    decimals: int
    before: str = ""
    after: str = ""
    grouped: bool = False
    is_percent: bool = False

    def show(self, value: float) -> str:
        """`-€1,200.00`, `12.5 %`."""
        number = abs(value) * 100 if self.is_percent else abs(value)
        shown = f"{number:{',' if self.grouped else ''}.{self.decimals}f}"
        minus = "-" if value < 0 and shown.strip("0.,") else ""
        return f"{minus}{self.before}{shown}{self.after}"


def read_format(code: str) -> NumberFormat | None:
    """The format of a code such as `0.0%` or `#,##0.00 [$€-407]`; None where it is neither percent nor currency."""
    digits, before, after, is_percent = "", "", "", False
    for part in _parts(code):
        if part[0] in "0#?":
            if digits:
                return None  # fractions, scientific: two numbers
            digits = part
            continue
        said = _said(part)
        is_percent = is_percent or part == "%"
        before, after = (before, after + said) if digits else (before + said, after)
    if not digits or not (is_percent or _SYMBOL.search(before + after)):
        return None
    return NumberFormat(
        decimals=min(len(re.sub(r"[^0#?]", "", digits.partition(".")[2])), MOST_DECIMALS),
        before=before.lstrip(" -+("),
        after=after.rstrip(" )"),
        grouped="," in digits.partition(".")[0].rstrip(","),
        is_percent=is_percent,
    )


def _parts(code: str) -> Iterator[str]:
    """Of the section for positive numbers."""
    for match in _PART.finditer(code):
        if match[0] == ";":
            return
        yield match[0]


def _said(part: str) -> str:
    """What a part shows beside the digits: text, a symbol; padding and colours show nothing."""
    if part.startswith("[$"):
        return part[2:-1].partition("-")[0]
    if part.startswith('"'):
        return part[1:-1]
    if part.startswith("\\"):
        return part[1:]  # nothing, where a code ends in the sign itself
    return part if len(part) == 1 and (part in " %-+()" or _SYMBOL.match(part)) else ""
