"""Passages and tool results as plain text, each passage under the number it is cited by. All pure."""

from collections.abc import Iterable
from itertools import groupby

from core.domain.answer import NumberedPassage, ToolResult


def to_text(result: ToolResult) -> str:
    """What a tool gave back: its words, then its passages; never empty, which servers refuse."""
    words = f"Error: {result.text.strip()}" if result.is_error else result.text.strip()
    parts = [words, *map(passage_text, result.passages)]
    return "\n\n".join(part for part in parts if part) or "(nothing)"


def results_text(results: Iterable[ToolResult]) -> str:
    """Results for a model that knows no tools, as something it is told."""
    return "\n\n".join(f"Result of {result.name}:\n{to_text(result)}" for result in results)


def passage_text(item: NumberedPassage) -> str:
    """The passage between tags of ours; a document can't close them."""
    passage, document = item.source.passage, item.source.document
    places = [document.title or document.path, *(title for title, _ in groupby(passage.heading_path))]
    title = f"{' > '.join(places)}, p. {passage.page_number}".replace('"', "'").replace("\n", " ")
    text = passage.text.replace("</passage", "< /passage").replace("<passage", "< passage")
    return f'<passage number="{item.number}" title="{title}">\n{text.strip()}\n</passage>'
