"""A question about extracts, as a query: the form `owner:Ann due<2026-12-01 type:action_item open`, or plain English.

The form: `field:words`, `field="exactly"`, `field!=...`, `field<...` (also `<=`, `>`, `>=`; dates and numbers),
`type:`, `document:`, `limit:`; values and names of several words in quotation marks. Every other part is read as
English (see english.py), so both may be mixed; what is neither are words that a row has to hold. Pure.
"""

import re
from collections.abc import Mapping
from datetime import date

from core.errors import BadInput
from core.knowledge.facts.dates import read_period, to_iso
from core.knowledge.facts.english import read_english
from core.knowledge.facts.query import DEFAULT_ROWS, MOST_ROWS, Comparison, Condition, FactQuery, to_field_name
from core.knowledge.facts.rows import FactType

LONGEST_QUERY = 1_000  # characters; beyond it a question has no sense

_CONDITION = re.compile(
    r"""(?:(?<=\s)|(?<=\A))(?P<name>"[^"\n]{1,80}"|[^\W\d][\w-]{0,60})(?P<comparison><=|>=|!=|[:=<>])(?!//)"""
    r"""(?P<value>"[^"\n]*"|[^\s"]\S*)"""
)
_QUOTES = str.maketrans("“”„", '"""')
# What `type:` may be called beside the types' own names; "api" and "financial" stand for all of their rows.
_TYPES: Mapping[str, frozenset[FactType]] = {
    **{kind.value: frozenset({kind}) for kind in FactType},
    "action": frozenset({FactType.ACTION_ITEM}),
    "api": frozenset({FactType.API, FactType.ENDPOINT}),
    "financial": frozenset({FactType.FINANCIAL, FactType.FIGURE}),
}


def read_query(text: str, today: date, *, limit: int = DEFAULT_ROWS) -> FactQuery:
    """The query that a text stands for. BadInput for an empty one, an unknown type, or a limit that is no number."""
    asked = text.translate(_QUOTES).strip()[:LONGEST_QUERY]
    if not asked:
        raise BadInput('Say what to look for: owner:Ann due<2026-12-01 open, or "decisions about the ferry".')
    types: set[FactType] = set()
    conditions: list[Condition] = []
    document: str | None = None

    def take(match: re.Match[str]) -> str:
        nonlocal document, limit
        name, value = to_field_name(match["name"].strip('"')), match["value"].strip('"')
        if name == "type":
            types.update(read_types(value))
        elif name == "document":
            document = value
        elif name == "limit":
            limit = _read_limit(value)
        else:
            comparison = Comparison(match["comparison"])
            conditions.append(Condition(field=name, comparison=comparison, value=_dated(comparison, value, today)))
        return " "

    rest = _CONDITION.sub(take, asked)
    english = read_english(rest, today, frozenset(types), conditioned=bool(conditions))
    return FactQuery(
        types=frozenset(types) or english.types,
        conditions=(*conditions, *english.conditions),
        words=english.words,
        document=document or english.document,
        limit=limit,
    )


def read_types(value: str) -> frozenset[FactType]:
    """The types that a name stands for; several with commas between them. BadInput for an unknown one."""
    found: set[FactType] = set()
    for part in value.split(","):
        name = to_field_name(part)
        known = _TYPES.get(name) or _TYPES.get(name.removesuffix("s")) or _TYPES.get(f"{name.removesuffix('ies')}y")
        if known is None:
            raise BadInput(f"There is no type {part!r}: use one of {', '.join(kind.value for kind in FactType)}.")
        found |= known
    return frozenset(found)


def _dated(comparison: Comparison, value: str, today: date) -> str:
    """What is before or behind a day that is named from today on ("tomorrow") as that day."""
    if comparison in (Comparison.HOLDS, Comparison.IS, Comparison.IS_NOT):
        return value
    period = read_period(value, today)
    return value if period is None else to_iso(period) or period.start.isoformat()


def _read_limit(value: str) -> int:
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= MOST_ROWS):
        raise BadInput(f"limit:{value} can't be used: it is a number from 1 to {MOST_ROWS}.")
    return int(value)
