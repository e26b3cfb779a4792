"""Rows of extracts as an answer lists them: what a question asks for that needs no model."""

from dataclasses import dataclass

from core.domain.chat import PassageCitation, ToolInvocation, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFact:
    """A row, in the words of its document where these say it."""

    text: str  # one line, without markup
    document: str  # title of the document it stands in
    citation: PassageCitation


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFacts:
    """The rows in the order of document and place, each said once; with the call that found them, for the history."""

    rows: tuple[ListedFact, ...]
    total: int  # rows that fit, those beyond the bound of a list included
    unknown: int  # that would fit, had they a date or number to be compared
    noun: str  # what they are, for people, in the plural: "open action items"
    invocation: ToolInvocation
    result: ToolResult
