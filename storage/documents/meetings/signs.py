"""What tells the notes of a meeting from other texts. Pure."""

import re
from pathlib import PurePosixPath

from core.domain.corpus import Document
from storage.documents.meetings.labels import Role
from storage.documents.meetings.record import Notes, Sureness

# Sentences about what a group discussed that tell minutes in prose.
_MIN_TALKS = 3

MEETING = re.compile(
    r"\b(?:meetings?|minutes|calls?|stand-?up|sync|retro(?:spective)?|huddle|1[:-]1|one[- ]on[- ]one|all[- ]hands"
    r"|sitzung\w*|besprechung"
    r"|treffen|jour fixe|réunion|reunion|séance|reunión|riunione|incontro|vergadering|overleg|reunião|spotkanie"
    r"|möte|møte|møde"
    r"|council|board|committee|working group|debrief|kick-?off|telecon|town hall"
    r"|встреча|совещание|会議|ミーティング|会议)\b",
    re.IGNORECASE,
)
NOTES_OF = re.compile(
    r"\b(?:minutes|(?:council|board|committee) (?:update|report|summary)"
    r"|(?:meeting|call|sync|stand-?up|session|board|committee|team|retro|weekly) (?:notes|minutes"
    r"|summary|recap)|notes (?:from|of) .{0,40}"
    r"(?:meeting|call|sync)|meeting \d+|\w*protokoll|mitschrift|compte[- ]rendu|procès[- ]verbal|pv|acta|minuta"
    r"|verbale|notulen|verslag"
    r"|ata|referat|protokół|протокол|議事録|会议纪要|会议记录)\b|議事録|会议纪要|会议记录",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"\b(?:meeting|minute|protokoll|notulen|standup|réunion|acta|call)s?\b", re.IGNORECASE)
_NO_NOTES_OF = re.compile(r"\b(?:how to|guide|template|policy|policies|best practices|tips|checklist)\b", re.IGNORECASE)


def score_of(notes: Notes, document: Document, title: str, *, is_dated: bool, several: bool) -> float:
    """How much speaks for a meeting: its names, what its headings and labels are, what its sentences tell."""
    path = PurePosixPath(document.path)
    names = f"{title} | {document.title if several else ''} | {path.stem.replace('_', ' ').replace('-', ' ')}"
    titled = bool(NOTES_OF.search(names) or MEETING.search(names) or _FOLDER.search(path.parent.name))
    score = 0.0 if titled else -0.8
    if NOTES_OF.search(names):
        score += 2.5
    elif MEETING.search(names):
        score += 1.5
    if any(_FOLDER.search(part) for part in path.parent.parts):
        score += 1
    if _NO_NOTES_OF.search(names):
        score -= 2
    score += 1 if is_dated else 0
    score += min(len(notes.attendees), 2) * 0.9 + (0.5 if Role.ABSENT in notes.roles else 0)
    score += 0.5 if notes.chairs or notes.writers else 0
    score += 0.7 if Role.TOPICS in notes.roles else 0
    score += 0.8 if any(noted.sureness > Sureness.PROSE for noted in notes.decisions) else 0
    score += 0.8 if any(noted.sureness > Sureness.PROSE for noted in notes.actions) else 0
    score += 0.5 if Role.PAST in notes.roles else 0
    score += 1 if notes.talks >= _MIN_TALKS else 0
    return score
