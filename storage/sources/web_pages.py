"""Web pages by their addresses into a mirror: what url_list and sitemap have in common."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import unquote, urldefrag, urlsplit

from core.errors import SourceUnavailable
from core.ports.documents import FetchProgress
from storage.sources.mirror import Kept, Mirror, safe_part
from storage.sources.web import Reply, Web

SAVE_EVERY = 50  # pages between two writes of the mirror's memory
# What a server calls a document -> the suffix by which its reader is found.
SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/x-rst": ".rst",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/rtf": ".rtf",
    "application/json": ".json",
    "application/yaml": ".yaml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.oasis.opendocument.text": ".odt",
}
# Media types that say nothing: the address' own suffix is believed.
_VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})


@dataclass(slots=True)
class Outcome:
    """What became of the addresses; `warnings` has a sentence for each that did not come."""

    paths: list[str] = field(default_factory=list)  # files that belong to the source
    good: int = 0
    failed: int = 0
    warnings: list[str] = field(default_factory=list)


async def fetch_pages(
    web: Web, mirror: Mirror, urls: Sequence[str], progress: FetchProgress, revisions: Mapping[str, str] | None = None
) -> Outcome:
    """Bring the mirror in step with `urls`; `revisions` (a sitemap's dates) spare requests for what has not changed.

    A page that is gone (404, 410) or forbidden by robots.txt is removed; what can't be had for now stays. Raises
    SourceUnavailable when not one page came; the mirror is then as before.
    """
    outcome, known = Outcome(), mirror.by_key()
    wanted = list(dict.fromkeys(urldefrag(url).url for url in urls))
    for number, url in enumerate(wanted, start=1):
        try:
            await _fetch_page(web, mirror, url, known.get(url), (revisions or {}).get(url, ""), outcome)
        except SourceUnavailable as error:
            outcome.failed += 1
            outcome.warnings.append(str(error))
            if url in known:
                outcome.paths.append(known[url])
        progress(number, len(wanted), url)
        if number % SAVE_EVERY == 0:
            mirror.save()
    if outcome.failed and not outcome.good:
        raise SourceUnavailable(f"Not one of {len(wanted)} pages could be read. {outcome.warnings[0]}")
    mirror.keep_only(outcome.paths)
    mirror.save()
    return outcome


async def _fetch_page(web: Web, mirror: Mirror, url: str, path: str | None, revision: str, outcome: Outcome) -> None:
    kept = mirror.memory.files[path] if path else Kept()
    if not await web.may_read(url):
        outcome.good += 1
        outcome.warnings.append(f"{url} is left out: the robots.txt of its host forbids reading it")
        return
    if path and revision and kept.revision == revision:
        reply = Reply(url=url, status=304, headers={}, content=b"")
    else:
        reply = await web.get(url, etag=kept.etag, modified=kept.modified)
    if reply.url != url and not await web.may_read(reply.url):
        outcome.good += 1
        outcome.warnings.append(f"{url} is left out: it leads to {reply.url}, which robots.txt forbids reading")
    elif reply.status in (404, 410):
        outcome.good += 1
        outcome.warnings.append(f"{url} answered {reply.status}: it is gone, take it out of the source")
    elif reply.status == 304 and path:
        outcome.good += 1
        outcome.paths.append(path)
    elif reply.status == 200:
        _store(mirror, url, revision, reply, outcome)
    else:
        raise SourceUnavailable(f"{url} answered {reply.status}")


def _store(mirror: Mirror, url: str, revision: str, reply: Reply, outcome: Outcome) -> None:
    target = to_path(url, reply.media_type)
    outcome.good += 1
    if target is None:
        outcome.warnings.append(f"{url} is left out: nothing reads {reply.media_type!r}")
        return
    kept = Kept(
        key=url,
        link=url,
        revision=revision,
        etag=reply.headers.get("etag", ""),
        modified=reply.headers.get("last-modified", ""),
    )
    mirror.write(target, reply.content, kept)
    outcome.paths.append(target)


def to_path(url: str, media_type: str) -> str | None:
    """Where a page lies in the mirror: host, then the parts of its path; None for what no reader reads.

    Addresses that differ have paths that differ: what a path can't show stands in it as a hash.
    """
    parts = urlsplit(url)
    names = [safe_part(unquote(part)) for part in parts.path.split("/") if part.strip(". ")] or ["index"]
    suffix = PurePosixPath(names[-1]).suffix.lower()
    wanted = suffix if media_type in _VAGUE and suffix else SUFFIXES.get(media_type, "")
    if not wanted:
        return None
    stem = names[-1].removesuffix(PurePosixPath(names[-1]).suffix) if suffix == wanted else names[-1]
    plain = f"/{'/'.join([*names[:-1], stem])}{wanted if suffix == wanted else ''}" == parts.path and not parts.query
    if not plain or parts.path != parts.path.lower() or parts.scheme != "https":
        stem = f"{stem}-{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return "/".join([safe_part(parts.netloc), *names[:-1], f"{stem}{wanted}"])
