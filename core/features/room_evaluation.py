"""How well the bot behaves among people: labelled conversations (`footnote eval rooms`) and single everyday messages
(`footnote eval everyday`), played through the service and scored.

Patterns are read without regard to case, Markdown and line breaks.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.answer import AnswerStatus
from core.errors import BadInput
from core.text.words import collapse

_MARKUP = re.compile(r"[*`~]|\b_+|_+\b|^[ \t]*+>++ ?|\[\d+\]", re.MULTILINE)
DECISION_PERCENTILE = 95
COURTESY = 80  # characters of a short one


class Place(StrEnum):
    """The place of a conversation."""

    BOT_THREAD = "bot_thread"  # the first message mentions the bot, the others follow in its thread
    HUMAN_THREAD = "human_thread"  # a thread on the first message
    CHANNEL = "channel"  # each message in the channel itself
    AUTO_ANSWER = "auto_answer_channel"  # the same, with /settings auto_answer live
    DIRECT = "dm"


class Due(StrEnum):
    """The right reaction to a message."""

    ANSWER = "answer"
    CLARIFY = "clarify"
    BRIEF = "brief"
    REACTION = "reaction"  # an emoji at most
    SILENT = "silent"
    NOT_FOUND = "not_found"  # of everyday messages: the library does not say


ASKS = frozenset({Due.ANSWER, Due.CLARIFY})
UNPOSTED = frozenset({Due.REACTION, Due.SILENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of a conversation. `reply_to` is the number of the message that it replies to."""

    number: int
    author: str
    text: str
    mentions_bot: bool = False
    mentions: tuple[str, ...] = ()
    reply_to: int | None = None
    replies_to_bot: bool = False
    is_bot: bool = False
    soon: bool = False  # within a second of the one before
    muted_after: bool = False  # its author then gives /mute, or /listen
    listened_after: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A conversation to be played. `is_empty`: over a library without documents."""

    id: str
    place: Place
    said: tuple[Said, ...]
    is_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A reply: its status, its text, and the paths of the documents that it quotes."""

    status: AnswerStatus
    text: str
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The outcome of one message. `code` and `reason` belong to the stored decision."""

    number: int
    code: str
    reason: str
    decision_ms: float
    reacted: bool = False
    posts: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The label of a message. Without `contains` and documents, the library does not say."""

    due: Due
    contains: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()  # of everyday messages: the reply has one of these
    accept: frozenset[str] = frozenset()
    no_quote: bool = False
    has_gold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledScene:
    """A line of a file; `labels` by the numbers of its messages."""

    scene: Scene
    category: str
    labels: Mapping[int, Label]
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One fault: `kind` is missed, missed_brief, interjection, further or wrong."""

    scene: str
    number: int
    kind: str
    text: str
    reply: str
    reason: str


@dataclass(kw_only=True)
class Tally:
    """Counts over messages."""

    due: int = 0  # answer or clarify
    missed: int = 0
    briefs: int = 0
    missed_briefs: int = 0
    not_meant: int = 0  # silent or reaction
    interjections: int = 0
    further: int = 0
    checked: int = 0  # replies whose content is checked
    wrong: int = 0
    other_document: int = 0
    right: int = 0  # everyday messages as expected
    messages: int = 0

    def to_json(self) -> dict[str, object]:
        return {
            "messages": self.messages,
            "missed_questions": _share(self.missed, self.due),
            "missed_briefs": _share(self.missed_briefs, self.briefs),
            "false_interjections": _share(self.interjections, self.not_meant),
            "further_posts": self.further,
            "wrong_content": _share(self.wrong, self.checked),
            "other_document": self.other_document,
            **({"as_expected": _share(self.right, self.messages)} if self.right else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomReport:
    """Figures over all messages, by category, by place and by label; and each fault."""

    total: Tally
    groups: Mapping[str, Mapping[str, Tally]]  # "category", "place", "label", "language" -> name -> counts
    misses: tuple[Miss, ...]
    decisions_ms: tuple[float, ...] = ()

    def to_json(self) -> dict[str, object]:
        ordered = sorted(self.decisions_ms)
        return {
            **self.total.to_json(),
            "decision_ms_p95": round(percentile(ordered, DECISION_PERCENTILE), 1) if ordered else None,
            **{
                f"by_{name}": {key: tally.to_json() for key, tally in sorted(group.items())}
                for name, group in self.groups.items()
            },
            "misses": [
                {"scene": m.scene, "n": m.number, "kind": m.kind, "text": m.text, "reply": m.reply, "reason": m.reason}
                for m in self.misses
            ],
        }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def percentile(ordered: Sequence[float], share: int) -> float:
    """Return the value at a percentile of sorted values."""
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * share / 100) - 1)]


# ------------------------------------------------------------------------------------------------------------- reading


def read_rooms(lines: Iterable[str]) -> list[LabelledScene]:
    """Return the conversations of a file. Raises BadInput that names the line."""
    return [_room(fields, number) for number, fields in _objects(lines)]


def read_everyday(lines: Iterable[str]) -> list[LabelledScene]:
    """Return the messages of a file, each as a private conversation after its `history`. Raises BadInput."""
    return [_everyday(fields, number) for number, fields in _objects(lines)]


def _objects(lines: Iterable[str]) -> Iterable[tuple[int, dict[str, object]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise BadInput(f"Line {number} is not JSON: {error}.") from error
        if not isinstance(fields, dict):
            raise BadInput(f"Line {number} is no object.")
        yield number, fields


def _room(fields: Mapping[str, object], number: int) -> LabelledScene:
    messages = fields.get("messages")
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        raise BadInput(f"Line {number} has no list of messages.")
    settings = fields.get("settings") or {}
    settings = settings if isinstance(settings, dict) else {}
    try:
        said = tuple(_said(item, settings) for item in messages)
        labels = {int(item["n"]): _label(item) for item in messages}
        place = Place(str(fields["place"]))
        id = str(fields["id"])
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"Line {number} can't be read: {error}.") from error
    scene = Scene(id=id, place=place, said=said)
    return LabelledScene(scene=scene, category=str(fields.get("category") or "other"), labels=labels)


def _said(item: Mapping[str, object], settings: Mapping[str, object]) -> Said:
    number, reply_to = int(str(item["n"])), item.get("reply_to")
    return Said(
        number=number,
        author=str(item["author"]),
        text=str(item["text"]),
        mentions_bot=bool(item.get("mentions_bot")),
        mentions=_texts(item.get("mentions")),
        reply_to=int(str(reply_to)) if reply_to is not None else None,
        replies_to_bot=bool(item.get("reply_to_bot")),
        is_bot=bool(item.get("author_is_bot")),
        soon=bool(item.get("soon")),
        muted_after=settings.get("mute_after") == number,
        listened_after=settings.get("listen_after") == number,
    )


def _everyday(fields: Mapping[str, object], number: int) -> LabelledScene:
    try:
        asked = [*_texts(fields.get("history")), str(fields["text"])]
        label = _label(fields)
        id = str(fields["id"])
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"Line {number} can't be read: {error}.") from error
    said = tuple(Said(number=place, author="ada", text=text) for place, text in enumerate(asked, start=1))
    scene = Scene(id=id, place=Place.DIRECT, said=said, is_empty=fields.get("library") == "empty")
    language = str(fields.get("language") or "")
    return LabelledScene(
        scene=scene, category=str(fields.get("category") or "other"), labels={len(asked): label}, language=language
    )


def _label(item: Mapping[str, object]) -> Label:
    gold = item.get("gold")
    known: Mapping[str, object] = gold if isinstance(gold, dict) else {}
    must_not = _texts(item.get("must_not"))
    return Label(
        due=Due(str(item["expect"])),
        contains=_texts(known.get("contains")),
        documents=_texts(known.get("document")),
        forbidden=(*_texts(item.get("must_not_contain")), *(text for text in must_not if text != "quote")),
        any_of=_texts(item.get("contains_any")),
        accept=frozenset(_texts(item.get("accept"))),
        no_quote="quote" in must_not,
        has_gold=gold is not None,
    )


def _texts(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)


# ------------------------------------------------------------------------------------------------------------- scoring


def has_pattern(text: str, pattern: str) -> bool:
    return re.search(pattern, plain(text), re.IGNORECASE) is not None


def plain(text: str) -> str:
    """Return a text without Markdown, footnote marks and line breaks."""
    return collapse(_MARKUP.sub("", text))


@dataclass
class _Scores:
    total: Tally = field(default_factory=Tally)
    groups: dict[str, dict[str, Tally]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Tally)))
    misses: list[Miss] = field(default_factory=list)
    decisions: list[float] = field(default_factory=list)

    def count(self, names: Mapping[str, str], **added: int) -> None:
        for tally in (self.total, *(self.groups[group][name] for group, name in names.items())):
            for key, value in added.items():
                setattr(tally, key, getattr(tally, key) + value)

    def report(self) -> RoomReport:
        return RoomReport(
            total=self.total, groups=self.groups, misses=tuple(self.misses), decisions_ms=tuple(self.decisions)
        )


def score_rooms(played: Sequence[tuple[LabelledScene, Sequence[Heard]]]) -> RoomReport:
    """Score conversations by ROOMS.md: posts of a burst are first given to the messages that are due one."""
    scores = _Scores()
    for room, heard in played:
        by_number = {item.number: item for item in heard}
        for burst in _bursts(room.scene.said):
            _score_burst(scores, room, [(said, by_number[said.number]) for said in burst])
    return scores.report()


def _bursts(said: Sequence[Said]) -> list[list[Said]]:
    """Return the messages in groups: by one author, following each other within a second."""
    groups: list[list[Said]] = []
    open_groups: dict[str, list[Said]] = {}
    for item in said:
        if not item.soon:
            open_groups = {}
        if item.author in open_groups:
            open_groups[item.author].append(item)
        else:
            groups.append([item])
            open_groups[item.author] = groups[-1]
    return groups


def _score_burst(scores: _Scores, room: LabelledScene, burst: Sequence[tuple[Said, Heard]]) -> None:
    spare = [post for _, heard in burst for post in heard.posts]
    given: dict[int, Posted] = {}
    due = [said for said, _ in burst if room.labels[said.number].due not in UNPOSTED]
    # A greeting before a question needs no reply of its own: the questions come first.
    for said in sorted(due, key=lambda said: room.labels[said.number].due not in ASKS):
        own = next((post for _, heard in burst if heard.number == said.number for post in heard.posts), None)
        post = own if own in spare else next(iter(spare), None)
        if post is not None:
            given[said.number] = post
            spare.remove(post)
    has_question = any(room.labels[said.number].due in ASKS for said in due)
    for said, heard in burst:
        label = room.labels[said.number]
        names = {"category": room.category, "place": room.scene.place.value, "label": label.due.value}
        scores.decisions.append(heard.decision_ms)
        scores.count(names, messages=1)
        if label.due in UNPOSTED:
            interjected = spare.pop(0) if spare else None
            if interjected is not None and _is_courtesy(room.scene.place, label, interjected):
                interjected = None
            scores.count(names, not_meant=1, interjections=int(interjected is not None))
            if interjected is not None:
                _note(scores, room, said, heard, "interjection", interjected)
            continue
        _score_due(scores, names, room, said, heard, given.get(said.number), may_lack=has_question and len(burst) > 1)
    if spare:
        said, heard = burst[-1]
        scores.count({"category": room.category, "place": room.scene.place.value}, further=len(spare))
        _note(scores, room, said, heard, "further", spare[0])


def _score_due(
    scores: _Scores,
    names: Mapping[str, str],
    room: LabelledScene,
    said: Said,
    heard: Heard,
    post: Posted | None,
    *,
    may_lack: bool,
) -> None:
    label = room.labels[said.number]
    if label.due in ASKS:
        scores.count(names, due=1, missed=int(post is None))
    else:
        is_missed = post is None and not may_lack
        scores.count(names, briefs=1, missed_briefs=int(is_missed))
    if post is None:
        if label.due in ASKS or not may_lack:
            _note(scores, room, said, heard, "missed" if label.due in ASKS else "missed_brief", None)
        return
    is_wrong = not fits_room(label, post)
    scores.count(names, checked=1, wrong=int(is_wrong), other_document=int(not is_wrong and _is_elsewhere(label, post)))
    if is_wrong:
        _note(scores, room, said, heard, "wrong", post)


def _is_courtesy(place: Place, label: Label, post: Posted) -> bool:
    """Whether a post is a short courtesy in private, where one is as right as a reaction."""
    is_short = len(plain(post.text)) <= COURTESY and not post.documents and post.status is not AnswerStatus.NOT_FOUND
    return place is Place.DIRECT and label.due is Due.REACTION and is_short


def fits_room(label: Label, post: Posted) -> bool:
    """Whether the content of a reply is right."""
    if any(has_pattern(post.text, pattern) for pattern in label.forbidden):
        return False
    if label.due is Due.ANSWER:
        if label.has_gold:
            return all(has_pattern(post.text, pattern) for pattern in label.contains)
        return not post.documents
    is_refusal = label.due is Due.BRIEF and post.status is AnswerStatus.NOT_FOUND
    return not post.documents and not is_refusal


def _is_elsewhere(label: Label, post: Posted) -> bool:
    return bool(label.documents and post.documents) and not {*label.documents} & {*post.documents}


def _note(scores: _Scores, room: LabelledScene, said: Said, heard: Heard, kind: str, post: Posted | None) -> None:
    scores.misses.append(
        Miss(
            scene=room.scene.id,
            number=said.number,
            kind=kind,
            text=said.text,
            reply=post.text if post else "",
            reason=f"{heard.code}: {heard.reason}" if post is None else post.status.value,
        )
    )


def score_everyday(played: Sequence[tuple[LabelledScene, Sequence[Heard]]]) -> RoomReport:
    """Score single messages: the kind of the reply, its patterns, and whether it quotes."""
    scores = _Scores()
    for line, heard in played:
        last, said = heard[-1], line.scene.said[-1]
        label = line.labels[said.number]
        post = last.posts[0] if last.posts else None
        kind = kind_of(post)
        names = {"category": line.category, "language": line.language or "other", "label": label.due.value}
        fits = fits_everyday(label, post)
        is_missed = label.due is Due.ANSWER and (post is None or not post.documents)
        is_interjection = label.no_quote and post is not None and bool(post.documents)
        scores.decisions.append(last.decision_ms)
        scores.count(names, messages=1, right=int(fits), due=int(label.due is Due.ANSWER), missed=int(is_missed))
        scores.count(names, not_meant=int(label.no_quote), interjections=int(is_interjection))
        if not fits:
            _note(scores, line, said, last, f"wrong ({kind} for {label.due.value})", post)
    return scores.report()


def kind_of(post: Posted | None) -> str:
    """Return the kind of a reply: answer, not_found, clarify, brief or nothing."""
    if post is None:
        return "nothing"
    if post.documents:
        return Due.ANSWER.value
    if post.status in (AnswerStatus.NOT_FOUND, AnswerStatus.CLARIFY):
        return post.status.value
    return Due.BRIEF.value


def fits_everyday(label: Label, post: Posted | None) -> bool:
    """Whether a reply is of the expected kind, or another right one, with its patterns."""
    if post is None or any(has_pattern(post.text, pattern) for pattern in label.forbidden):
        return False
    kind = kind_of(post)
    if kind not in {label.due.value, *label.accept} or (label.no_quote and post.documents):
        return False
    if kind == Due.ANSWER and label.has_gold:
        return all(has_pattern(post.text, pattern) for pattern in label.contains)
    return not label.any_of or any(has_pattern(post.text, pattern) for pattern in label.any_of)
