"""An issue or pull request of GitHub as a Markdown document: what it says, then each comment under a heading. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from core.text.words import collapse


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    author: str
    day: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueText:
    number: int
    title: str
    link: str
    state: str
    is_pull: bool
    author: str
    day: str
    labels: tuple[str, ...]
    text: str
    comments: tuple[Comment, ...]

    @staticmethod
    def of(issue: Mapping[str, Any], comments: Sequence[Mapping[str, Any]]) -> "IssueText":
        """As the API gives them."""
        return IssueText(
            number=int(issue["number"]),
            title=str(issue["title"]),
            link=str(issue["html_url"]),
            state=str(issue["state"]),
            is_pull="pull_request" in issue,
            author=_login(issue),
            day=str(issue["created_at"])[:10],
            labels=tuple(str(item["name"] if isinstance(item, dict) else item) for item in issue.get("labels") or ()),
            text=str(issue.get("body") or ""),
            comments=tuple(
                Comment(author=_login(item), day=str(item["created_at"])[:10], text=str(item.get("body") or ""))
                for item in comments
            ),
        )


def to_markdown(issue: IssueText) -> str:
    """Front matter with title and address, a line of facts, the text; headings inside texts go below ours."""
    front = yaml.safe_dump(
        {"title": f"#{issue.number} {issue.title}", "url": issue.link}, allow_unicode=True, sort_keys=False
    )
    what = "Pull request" if issue.is_pull else "Issue"
    labels = f", labels: {', '.join(issue.labels)}" if issue.labels else ""
    parts = [f"---\n{front}---\n", f"# {collapse(issue.title)}"]
    parts.append(f"{what} #{issue.number} by {issue.author}, {issue.day}, {issue.state}{labels}.")
    parts.append(_lowered(issue.text))
    for comment in issue.comments:
        parts += [f"## {comment.author}, {comment.day}", _lowered(comment.text)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _login(item: Mapping[str, Any]) -> str:
    return str((item.get("user") or {}).get("login") or "ghost")


def _lowered(text: str) -> str:
    """The text with its headings two levels down, outside of code; CRLF as GitHub stores it becomes LF."""
    lines, fence = [], ""
    for line in text.replace("\r\n", "\n").strip().split("\n"):
        bare = line.lstrip()
        mark = bare[:3]
        if mark in ("```", "~~~") and (not fence or mark == fence):
            fence = "" if fence else mark
        level = len(bare) - len(bare.lstrip("#"))
        if not fence and 0 < level <= 6 and bare[level : level + 1] in (" ", ""):
            line = "#" * min(level + 2, 6) + bare[level:]
        lines.append(line)
    return "\n".join(lines)
