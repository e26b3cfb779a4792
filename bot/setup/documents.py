"""The step of the documents: folders and files of this machine, and sources that are fetched."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from bot.config.sources import SourceConfig
from bot.presentation.setup_screens import Answers, Choice, Field, FieldKind, Finding, Screen
from bot.setup.draft import Doubt, Draft
from bot.setup.step import is_problem, ok, one, page, problem, several, warning
from bot.setup.writing import ConfigFile
from bot.wiring.providers import count_readable, reach_source
from core.domain.readers import EVERYONE, MEMBERS, READER_FORMS, parse_readers
from core.domain.sources import Reach, Reached
from core.errors import BadInput, FootnoteError
from core.features.upload_files import size_words

NOTHING = "nothing"  # the choice of no more sources
FETCHED_EVERY = "every 6h"
_SOURCE: TypeAdapter[SourceConfig] = TypeAdapter(SourceConfig)
_KINDS = {  # names of kinds of readers for people; others are capitalised
    "foundry": "JSON", "html": "web pages", "openapi": "OpenAPI", "pdf": "PDF", "csv": "CSV", "docx": "Word",
    "odt": "OpenDocument", "rtf": "RTF", "pptx": "PowerPoint", "epub": "EPUB", "rst": "reStructuredText",
}  # fmt: skip
_CHOICES = (
    Choice(value="folder", label="Folders or files of this machine", note="Read in place, and again when they change."),
    Choice(value="git", label="A git repository"),
    Choice(value="github", label="GitHub", note="Files, wiki and issues of a repository."),
    Choice(value="confluence", label="Confluence", note="The pages of spaces."),
    Choice(value="url_list", label="Web pages", note="By their addresses."),
    Choice(value=NOTHING, label="Nothing more"),
)
NOBODY, SOME = "nobody", "some"
_READERS = (
    Choice(value=MEMBERS, label="All members", note="Of the servers and teams, without guests."),
    Choice(value=EVERYONE, label="Everyone who can write to the bot", note="Also guests and other organisations."),
    Choice(value=SOME, label="Certain channels, roles, groups or people", note="By their ids."),
    Choice(value=NOBODY, label="Only you, on this machine", note="Until you choose others in the configuration."),
)
_EXPECTED = {
    "folder": "Enter the path of a folder.",
    "files": "Enter the path of a file.",
    "git": "Enter the address of a repository.",
    "github": "Enter the repository as owner/name.",
    "confluence": "Enter the address of the wiki, and the keys of its spaces: letters and digits, with commas.",
    "url_list": "Enter addresses of pages, one a line.",
}


class DocumentsStep:
    key, title = "documents", "Documents"

    def applies(self, draft: Draft) -> bool:
        return True

    def is_set_up(self, draft: Draft) -> bool:
        return bool(_kept(draft))

    async def screen(self, draft: Draft) -> Screen:
        known = _kept(draft)
        keep = Field(
            name="keep",
            label="Sources to keep",
            kind=FieldKind.CHOICES,
            choices=tuple(Choice(value=name, label=name, note=place) for name, place in known.items()),
            value=tuple(known),
        )

        def text(name: str, label: str, kind: str, what: FieldKind = FieldKind.TEXT, note: str = "") -> Field:
            return Field(name=name, label=label, kind=what, only_if=("kind", kind), note=note)

        note = "Needed for private ones. Kept on this machine, in a file that only Footnote can read."
        return page(
            title="What should it read?",
            text=("Documents that you name here are read when Footnote starts, and kept up to date.",),
            fields=(
                Field(name="files", label="Files to copy into the library", kind=FieldKind.FILES),
                *([keep] if known else []),
                Field(
                    name="kind",
                    label="Add a source",
                    kind=FieldKind.CHOICE,
                    choices=_CHOICES,
                    value=NOTHING if known else "folder",
                ),
                text("paths", "Folders or files", "folder", FieldKind.LINES),
                text("git_url", "Address of the repository", "git"),
                text("git_token", "Token", "git", FieldKind.SECRET, note),
                text("repository", "Repository, as in owner/name", "github"),
                text("github_token", "Token", "github", FieldKind.SECRET, note),
                text("confluence_url", "Address, as in https://example.atlassian.net/wiki", "confluence"),
                text("spaces", "Keys of its spaces, with commas", "confluence"),
                text("user", "E-mail address of the token's owner, for atlassian.net", "confluence"),
                text("confluence_token", "API token", "confluence", FieldKind.SECRET, note),
                text("urls", "Addresses of pages", "url_list", FieldKind.LINES),
                Field(
                    name="readers",
                    label="Readers in chats",
                    kind=FieldKind.CHOICE,
                    choices=_READERS,
                    value=MEMBERS,
                    only_if=("kind", " ".join(_EXPECTED)),
                    note="A chat shows it only where everyone who can read the place is among them.",
                ),
                Field(
                    name="only_readers",
                    label="Its readers, with blanks between them",
                    kind=FieldKind.TEXT,
                    only_if=("readers", SOME),
                    note=f"In these forms: {READER_FORMS}.",
                ),
            ),
        )

    async def submit(self, draft: Draft, answers: Answers) -> Sequence[Finding]:
        if "keep" in answers:
            _remove(draft, _kept(draft).keys() - set(several(answers, "keep")))
        kind = one(answers, "kind") or NOTHING
        source: dict[str, Any]
        try:
            readers = _readers(answers)
        except BadInput as error:
            return [problem(sentence=str(error))]
        match kind:
            case "folder" if given := several(answers, "paths"):
                return [found for path in given for found in await asyncio.to_thread(_add_path, draft, path, readers)]
            case "git":
                url = one(answers, "git_url")
                source = {"kind": kind, "url": url, "name": _last_part(url)}
            case "github":
                source = {"kind": kind, "repository": _repository(one(answers, "repository"))}
                source["name"] = _last_part(source["repository"])
            case "confluence":
                spaces = [key.strip() for key in one(answers, "spaces").split(",") if key.strip()]
                source = {"kind": kind, "url": one(answers, "confluence_url"), "spaces": spaces}
                source |= {"user": user} if (user := one(answers, "user")) else {}
                source["name"] = f"Confluence {', '.join(spaces)}"
            case "url_list":
                urls = several(answers, "urls")
                source = {"kind": kind, "urls": urls, "name": urlsplit(urls[0]).hostname if urls else ""}
            case _:
                known = len(_kept(draft))
                return [ok(sentence=f"{known} {'source' if known == 1 else 'sources'}.")] if known else []
        source |= {"schedule": FETCHED_EVERY, "readers": readers}
        return await _add_fetched(draft, source, one(answers, f"{kind}_token"))

    def write(self, draft: Draft, file: ConfigFile) -> None:
        file.remove_sources(draft.answers.removed_sources)
        file.add_sources(draft.answers.sources)

    def summary(self, draft: Draft) -> Sequence[str]:
        known = _kept(draft)
        if not known:
            return []
        return [f"It reads {len(known)} {'source' if len(known) == 1 else 'sources'}: {', '.join(known)}."]


def _readers(answers: Answers) -> list[str]:
    """Return the chosen readers as the configuration has them. BadInput if certain ones are none."""
    chosen = one(answers, "readers") or MEMBERS
    if chosen != SOME:
        return [] if chosen == NOBODY else [chosen]
    words = one(answers, "only_readers").replace(",", " ").split()
    if not words:
        raise BadInput(f"Enter who may read it: {READER_FORMS}.")
    return sorted(parse_readers(words))


def _add_path(draft: Draft, given: str, readers: list[str]) -> list[Finding]:
    path = Path(given).expanduser().absolute()
    if path.is_file():
        files = {"kind": "files", "name": path.name, "paths": [str(path)]}
        return _add(draft, {**files, "schedule": FETCHED_EVERY, "readers": readers})
    if not path.is_dir():
        return [problem(sentence=f"There is no folder or file {str(path)!r}. Check the path.")]
    try:
        counts = count_readable(path)
    except FootnoteError as error:
        return [problem(sentence=str(error))]
    source = {"kind": "folder", "name": path.name or str(path), "path": str(path), "watch": True}
    found = _add(draft, {**source, "readers": readers})
    return found if is_problem(found) else [_describe(path, counts)]


def _describe(path: Path, counts: Mapping[str, tuple[int, int]]) -> Finding:
    """Describe a folder: "/srv/notes: 41 documents, 12 MB: Markdown 33, PDF 8."."""
    files = sum(number for number, _ in counts.values())
    if not files:
        return warning(sentence=f"{path} has no file that Footnote can read yet. It is watched for new ones.")
    by_number = sorted(counts.items(), key=lambda kind: -kind[1][0])
    kinds = ", ".join(f"{_KINDS.get(kind, kind.capitalize())} {number}" for kind, (number, _) in by_number)
    size = size_words(sum(size for _, size in counts.values()))
    return ok(sentence=f"{path}: {files} {'document' if files == 1 else 'documents'}, {size}: {kinds}.")


async def _add_fetched(draft: Draft, source: dict[str, Any], token: str) -> list[Finding]:
    """Add a source that answers; any other when it is entered a second time."""
    place, doubt = _place(source), draft.doubt
    is_again = doubt is not None and doubt.place == place and token in ("", doubt.token)
    draft.doubt = None
    if is_again and doubt is not None:
        token = doubt.token
        source |= {"allow_private": True} if doubt.allow_private else {}
        if not doubt.asks_again:
            return _add(draft, source, token)
    if _refusals(source) or place in _kept(draft).values():
        return _add(draft, source, token)
    spec = _SOURCE.validate_python({**source, "name": source["name"] or "source"}).to_spec(draft.workspace)
    reached = await reach_source(spec, token or None)
    if reached.state is Reach.READY:
        return _add(draft, source, token)
    is_private = reached.state is Reach.PRIVATE
    allow_private = is_private or "allow_private" in source
    draft.doubt = Doubt(place=place, token=token, asks_again=is_private, allow_private=allow_private)
    return [problem(sentence=_describe_doubt(reached, source["kind"], has_token=bool(token)))]


def _describe_doubt(reached: Reached, kind: str, *, has_token: bool) -> str:
    """Return the fault of a source, and the next step."""
    place = reached.place
    if reached.state is Reach.PRIVATE:
        return f"{place} is in your own network, which is read only if you allow it. Enter it once more to allow that."
    hint = "" if has_token or kind == "url_list" else ", or paste a token that may read it"
    said = {
        Reach.UNREACHABLE: f"{place} can't be reached. Check the address and this machine's network",
        Reach.NOT_FOUND: f"{place} was not found. Check the address{hint}",
        Reach.FORBIDDEN: f"{place} does not let Footnote read it. Choose another page"
        if kind == "url_list"
        else f"{place} refuses this token. Check the token and its rights"
        if has_token
        else f"{place} can't be read without a token. Paste one",
    }[reached.state]
    return f"{said}. To use it anyway, enter it once more."


def _refusals(source: dict[str, Any]) -> list[Finding]:
    """Return the fault of a source that can't be used."""
    try:
        _SOURCE.validate_python({**source, "name": source["name"] or "source"})
    except ValidationError as error:
        return [problem(sentence=_describe_error(error, source["kind"]))]
    return []


def _add(draft: Draft, source: dict[str, Any], token: str = "") -> list[Finding]:
    """Add a source to the draft under a name of its own, unless it can't be used or is there already."""
    place = _place(source)
    if known := next((name for name, there in _kept(draft).items() if there == place), None):
        return [ok(sentence=f"{place} is there already, as {known}.")]
    if refusals := _refusals(source):
        return refusals
    name = _free_name(source["name"], {*_configured(draft), *(one["name"] for one in draft.answers.sources)})
    added = {"kind": source["kind"], "name": name, **{key: value for key, value in source.items() if key != "kind"}}
    added["name"] = name
    if token:
        added["token_file"] = str(draft.keep_source_token(name, token))
    draft.answers.sources.append(added)
    return [ok(sentence=f"{place} is read when Footnote starts.")]


def _remove(draft: Draft, names: set[str]) -> None:
    answers = draft.answers
    answers.sources = [source for source in answers.sources if source["name"] not in names]
    answers.removed_sources = sorted({*answers.removed_sources, *(names & _configured(draft).keys())})


def _kept(draft: Draft) -> dict[str, str]:
    """Return the sources that the configuration will have: name -> place."""
    configured = {
        name: place for name, place in _configured(draft).items() if name not in draft.answers.removed_sources
    }
    return configured | {source["name"]: _place(source) for source in draft.answers.sources}


def _configured(draft: Draft) -> dict[str, str]:
    ours = [one for one in draft.config.sources if (one.workspace or draft.workspace) == draft.workspace]
    return {source.name: _place(source.model_dump(mode="json")) for source in ours}


def _describe_error(error: ValidationError, kind: str) -> str:
    """Return the next step. The answer isn't quoted, as an address may hold a password."""
    first = error.errors()[0]
    if first["type"] == "value_error" and len(first["loc"]) > 1:  # of a key, not of the whole source
        said = first["msg"].removeprefix("Value error, ").rstrip(".")
        return f"This address can't be used: {said}."
    return _EXPECTED[kind]


def _place(source: Mapping[str, Any]) -> str:
    """Return the place of a source, for people."""
    for key in ("path", "url", "repository"):
        if source.get(key):
            spaces = source.get("spaces")
            return f"{source[key]} ({', '.join(spaces)})" if spaces else str(source[key])
    return ", ".join([*source.get("paths", ()), *source.get("urls", ())]) or str(source.get("file", ""))


def _repository(text: str) -> str:
    """Return owner/name, also of an address on github.com."""
    return re.sub(r"^https?://github\.com/|(\.git)?/?$", "", text)


def _last_part(address: str) -> str:
    return re.split(r"[/:]", address.rstrip("/"))[-1].removesuffix(".git")


def _free_name(name: str, taken: set[str]) -> str:
    name = name.strip()[:90] or "documents"
    number = next(count for count in range(1, len(taken) + 2) if _numbered(name, count) not in taken)
    return _numbered(name, number)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"
