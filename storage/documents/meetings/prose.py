"""Decisions that stand in the sentences of meeting notes. Pure; rather too few than wrong ones."""

import re
from collections.abc import Iterator

from core.domain.corpus import Span
from storage.documents.meetings.tasks import MAX_SENTENCE

_SENTENCE = re.compile(r"(?<=[^\s.].[.!?])[)\"”’]?\s+(?=[\"“'(]?[^\W\da-z_])")
_WHO = (
    r"(?:we|they|everyone|everybody|all|both|participants|attendees|members|(?:the )?(?:[\w-]+ ){0,2}(?:team|board"
    r"|group|committee"
    r"|council|members|council members|cpc|tsc|pmc|attendees|participants|directors|trustees|meeting|parties"
    r"|panel|board|forum|assembly|trustees|governors|councillors|commission|shareholders|delegates|residents|chairs"
    r"|maintainers|partners|workshop|room|court|senate|faculty|community|project|club|society|association)"
    r"|(?-i:[A-Z]{2,6}))"
)
_ADVERB = r"(?:(?:all|also|then|unanimously|jointly|both|collectively|finally|have|has|tentatively|now|just)\s){0,3}"
# A word that every form of _DECIDED holds: most sentences have none, and are done with fast.
_HINT = re.compile(
    r"decid|decis|elected|agree|objection|selection|choice"
    r"|resol|vote|approv|adopt|accept|carried|passed|ratif|reject|declin|consensus|outcome|conclusion"
    r"|until|beschl|entsch|vereinb|einig|décid|conven|approuv|acord|acuerd|aprob|aprueb|aprov|concord"
    r"|besloten|afgesproken|goedgekeurd",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"(?:^(?:have |has |was |were )?(?:unanimously |tentatively )?(?:decided?|agreed?|resolved)\s(?:to|that|on"
    r"|not|against|upon|unanimously)\b"
    rf"|\b{_WHO}\s{_ADVERB}(?:decided|agreed|resolved|voted)\s"
    r"(?:\d{1,4} ?(?:to|-|–|:) ?\d{1,4},? )?(?:to|that|on|not|against|upon|unanimously|in favou?r)\b"
    # "decided" alone takes anything but who or when: "decided we wait", "decided a new date was needed".
    rf"|\b{_WHO}\s{_ADVERB}decided\s(?!by\b|in\b|at\b|whether\b|if\b|how\b|when\b|who\b|what\b)\w"
    rf"|\b{_WHO}\sand\s(?-i:[A-Z])[\w'’-]*\s{_ADVERB}(?:decided|agreed)\s(?:to|that|on|not|by|upon)\b"
    r"|\b[a-z]{3,}s (?:all |also |both |then )?agreed (?:to|that|on|upon)\b"
    rf"|\b{_WHO}\s{_ADVERB}(?:approved|adopted|ratified|accepted|rejected)\s(?!with\b|by\b)\w"
    r"|\b(?:discussed|reviewed|considered)\b[^.?]{0,200}\b(?:and|then),? (?:[^.,;]{3,60}, )?(?:\w+ly )?(?:has |have )?"
    r"(?:(?:agreed|resolved) (?:to|that|on|not)|decided(?! by\b| whether\b| if\b)|accepted|approved|adopted|rejected)\b"
    r"|[,;] (?:\w+ly )?(?:agreeing|deciding) (?:to|that|on|not|against)\b"
    r"|\bwith (?:\w+ )?(?:agreement|consensus) (?:to|that|on)\b"
    r"|(?:[,;]|\band|\bbut) the (?:decision|consensus|agreement|conclusion) (?:was|is) (?:that|to)\b"
    r"|\b(?:we|there(?: is| was)?|is|was) (?:have |had |reached )?(?:a )?(?:general |broad |rough |clear )?consensus"
    r" (?:on|that|to)\b"
    r"|\b(?:seems?|sounds?|looks?) like (?:we have |there(?: is|[’']s) |we[’']ve )?(?:a )?(?:consensus|agreement)\b"
    r"|^consensus:? (?:on|is|was|that|to)\b|[\"“]consensus yes[\"”]"
    r"|\bno objections?(?: (?:was|were))?(?: (?:voiced|raised|heard|made))?(?: to\s\w+|\W*$)"
    r"|\b(?:others?|everyone|everybody|all|both) agreed\W*$"
    r"|^(?:so )?what (?:we|was)(?:['’]ve| have)? (?:agreed|decided)(?: up)?(?:on)?(?: to)? is\b"
    r"|\bagreed with (?:the |this )?(?:approach|proposal|plan|direction|suggestion)\b"
    r"|\b(?:decided|voted) against\b"
    r"|\bmade (?:its|their|our|the) (?:final )?(?:decision|selection|choice)\b"
    r"|\bit (?:was|is|has been) (?:unanimously |generally |also |further )?(?:decided|agreed|resolved)\b"
    r"|^(?:the |a )?(?:motion|resolution|proposal|budget|vote|amendment|application|charter|plan|report"
    r"|request|accounts|policy|recommendations?|nominations?|appointment|bylaws|strategy|programme|statements?|officers)\b[^.;:]{0,120}?"
    r"\b(?:(?:was|were|is|has been) )?(?:unanimously )?(?:approved|adopted|accepted|carried|passed|ratified"
    r"|rejected|declined)\b"
    r"|\b(?:was|were) (?:duly |unanimously )?(?:re-?)?elected\b"
    r"|^(?:there (?:was|is) )?(?:a )?(?:general |broad |rough |unanimous |clear )?(?:agreement"
    r"|consensus)\s?(?:that|to|on|is|was|:)"
    r"|^(?:the |our |final )?(?:decision|consensus|agreement|outcome|conclusion)\s(?:is|was|to|that)\b"
    r"|\bdecision to (?:move|go|keep|use|adopt|proceed|drop|accept|postpone|merge)\b"
    r"|^(?:pause|postpone|defer|table|park|hold off|put on hold|delay)\b[^?]*\buntil\b"
    r"|\b(?:es wurde|wurde|wir haben|hat|haben|man hat)\b[^.?]{0,160}\b(?:beschlossen|entschieden|vereinbart)\b"
    r"|\beinig(?:t)?en sich\b"
    r"|\b(?:il (?:a été|est)|nous avons|on a|a|ont)\s(?:été )?(?:décidé|convenu|adopté|approuvé)\b"
    r"|\bse (?:acordó|decidió|aprobó|acuerda|aprueba|ha acordado|ha decidido)\b|\b(?:hemos|han|ha) (?:acordado"
    r"|decidido|aprobado)\b"
    r"|\b(?:si è|è stato|abbiamo|ha|hanno) (?:deciso|concordato|approvato)\b|\b(?:foi|ficou) (?:decidido|acordado"
    r"|aprovado)\b"
    r"|\b(?:is|wordt|werd|hebben|we hebben)\b[^.?]{0,120}\b(?:besloten|afgesproken|goedgekeurd)\b)",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"(?:\b(?:not|never|no|nicht|kein\w*|pas|non|niet)(?:\s\w+){0,3}|n['’]t(?:\s\w+){0,3}|\b(?:yet to|to be"
    r"|whether|if|unless|when|once"
    r"|until|ob|falls|si)(?:\s\w+){0,4}|\b(?:will|would|should|must|could|can|may|might|needs? to|has to|hope\w*"
    r"|want\w*|need)"
    r"(?:\s\w+){0,3})\s?$",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\bI (?:think|guess|believe|feel)\b|\b(?:no (?:decision|consensus|agreement)|undecided|last (?:week|time"
    r"|month|meeting|year)"
    r"|not (?:yet )?(?:decided|agreed)|agreed? with\b"
    r"(?! (?:the |this )?(?:approach|proposal|plan|direction|suggestion)\b)"
    r"|agree to disagree"
    r"|can we|could we|should we|do we|shall we|keine entscheidung)\b|\?\s*$",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"\b(?:minutes|agenda)\b.{0,60}\b(?:approved|adopted|accepted|carried|agreed)\b|\bapprov\w+\b.{0,40}\bminutes\b",
    re.I,
)
_VOTE = re.compile(
    r"(?:(?:the )?(?:motion|resolution|vote|all in favou?r)\b\s?:?(?:(?:was|is"
    r"|has been)\s)?(?:unanimously\s)?(?:carried|passed|approved|adopted)"
    r"|(?:carried|passed) (?:by|unanimously|nem\.? con)\b|(?:carried|passed) \d)",
    re.I,
)
_VOTE_WORDS = 8
_MIN_WORDS = 4
_STATE = re.compile(
    r"(?:unanimously )?(?:merged|approved|accepted|adopted|landed|agreed|passed|carried|ratified|angenommen|beschlossen"
    r"|adopté|approuvé|aprobado|approvato|akkoord)"
    r"(?:,? (?:unanimously|nem\.? con\.?|by consensus|with(?:out| no) objections?|no objections?))?\W{0,3}",
    re.IGNORECASE,
)
_TALK = re.compile(
    rf"{_WHO}\s(?:\w+ly |also |again |then |further )?(?:discussed|met with|reviewed|talked|agreed|decided|considered"
    r"|noted|approved|addressed|heard|went over)\b|discussed\b|it was (?:agreed|decided)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"(?P<name>[^\W\d_][\w.'’-]{0,25}(?:\s[^\W\d_][\w.'’-]{0,25}){0,2})\s?(?:\([^()]{1,40}\))?\s?:\s+(?=\S)"
)


def sentences(raw: str) -> Iterator[Span]:
    """The sentences of a line, in its characters."""
    begin = 0
    for match in _SENTENCE.finditer(raw):
        yield Span(begin, match.start())
        begin = match.end()
    if begin < len(raw):
        yield Span(begin, len(raw))


def is_decision(sentence: str) -> bool:
    """Whether a sentence tells what was decided: not what may be, was not, or is asked."""
    if _HINT.search(sentence) is None:
        return False
    if len(sentence) > MAX_SENTENCE or len(sentence.split()) < _MIN_WORDS:
        return False
    if _UNSURE.search(sentence) or _ROUTINE.search(sentence):
        return False
    match = _DECIDED.search(sentence)
    if match is None or sentence.rstrip(" .:").endswith((" to", " that", " on")):
        return False
    return _UNDECIDED.search(sentence[: match.start()][-50:]) is None


def is_state(text: str) -> bool:
    """Whether a line says of the one above that it was decided, and nothing else: "merged", "Approved."."""
    return _STATE.fullmatch(text) is not None


def is_vote(sentence: str) -> bool:
    """Whether a sentence says of the one before it that it was carried: "Motion carried 3-0."."""
    return _VOTE.match(sentence) is not None and len(sentence.split()) <= _VOTE_WORDS


def is_talk(sentence: str) -> bool:
    """Whether a sentence tells what a group talked about or did together, as minutes do."""
    return _TALK.match(sentence) is not None


def find_speaker(text: str) -> str | None:
    """Who says the line, in a transcript or notes by turns ("Ann: ..."); None where nobody does."""
    match = _SPEAKER.match(text)
    return match["name"] if match and match["name"][0].isupper() else None
