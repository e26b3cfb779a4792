"""What Slack makes of Markdown before it counts blocks: a heading, a rule and a table are blocks of their own.

The text between two of them is one block, however long (public measurements; docs.slack.dev names no count). Tables
have the limits of the block `table`, and all cells of a message together have one. A heading inside a list or a
quote counts like one outside: no document says that it doesn't.
"""

from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt

JSON = dict[str, Any]

MOST_ROWS = 100  # of a table, with its head
MOST_COLUMNS = 20
LONGEST_TABLES = 10_000  # characters of all cells of a message's tables
_BREAKS = {"heading_open": "header", "hr": "divider", "table_open": "table"}
_WORDS = {"inline", "fence", "code_block", "html_block"}
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def expanded_kinds(blocks: list[JSON]) -> list[str]:
    """The types of the blocks that Slack counts."""
    kinds: list[str] = []
    for block in blocks:
        kinds += _kinds_of(str(block.get("text"))) if block.get("type") == "markdown" else [str(block.get("type"))]
    return kinds


def table_problems(blocks: list[JSON]) -> list[str]:
    """What is wrong with the tables in Markdown."""
    problems, characters = [], 0
    for block in blocks:
        for rows in _tables_of(str(block.get("text"))) if block.get("type") == "markdown" else ():
            characters += sum(len(cell) for row in rows for cell in row)
            if len(rows) > MOST_ROWS:
                problems.append(f"no more than {MOST_ROWS} items allowed [json-pointer:/blocks/rows]")
            if any(len(row) > MOST_COLUMNS for row in rows):
                problems.append(f"no more than {MOST_COLUMNS} items allowed [json-pointer:/blocks/rows/0]")
    if characters > LONGEST_TABLES:
        problems.append(f"must be less than {LONGEST_TABLES + 1} characters [json-pointer:/blocks/rows]")
    return problems


def _kinds_of(text: str) -> list[str]:
    kinds: list[str] = []
    inside = ""  # a heading or a table, whose words are its own
    for token in _PARSER.parse(text):
        if token.type in _BREAKS:
            kinds.append(_BREAKS[token.type])
            inside = token.type.removesuffix("_open") if token.type != "hr" else ""
        elif inside and token.type == f"{inside}_close":
            inside = ""
        elif not inside and token.type in _WORDS and kinds[-1:] != ["rich_text"]:
            kinds.append("rich_text")
    return kinds or ["rich_text"]


def _tables_of(text: str) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for token in _PARSER.parse(text):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token.content)
        elif token.type == "table_close":
            yield rows
            rows = []
