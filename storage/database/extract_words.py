"""What is stored of an extract beside its data, so that it can be found and kept back. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from core.domain.extracts import Extract


def words_of(data: Mapping[str, object]) -> str:
    """All strings and numbers of the data, in order, lower-case: what a filter's words are looked for in."""
    return " ".join(_words(data)).casefold()


def last_page_of(extract: Extract) -> int:
    """The last page that anything of it stands on: a reader who is not that far sees none of it."""
    return max([extract.page_number, *_page_numbers(extract.data)])


def _words(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name not in ("page_number", "span", "row_spans"):
                yield from _words(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        for item in value:
            yield from _words(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:g}"


def _page_numbers(value: object) -> Iterator[int]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name == "page_number" and isinstance(item, int):
                yield item
            else:
                yield from _page_numbers(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _page_numbers(item)
