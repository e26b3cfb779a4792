"""Claims: sentences of an answer that state something about the documents' subject. Pure.

Offers, questions, headings, lead-ins and caveats state nothing. A sentence about the search ("I found nothing on …",
"His age isn't given") states a gap of the documents: it rests on the search, and needs no footnote.
"""

import re
from collections.abc import Iterator, Sequence

from core.answering.citations import MARKER
from core.domain.passages import Span
from core.domain.replies import CitedText
from core.text.words import code_spans, content_words

# Fewer content words than this, and no number, say too little to be a claim ("Yes.", "Here it is").
MIN_CLAIM_WORDS = 2
MIN_ROW_WORDS = 3  # of a table's row, whose cells are no sentence
# A model may say dots or blanks without an end: "++" gives nothing back, so that a row of them is read once.
_SENTENCE = re.compile(
    r"[^\n]*?(?<![.!?。！？])[.!?。！？]++[\"'”’)\]*_]*(?:[ \t]*+\[\d{1,3}(?:[,;] ?\d{1,3})*\])*(?=\s|$)|[^\n]+",
    re.UNICODE,
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Inc|Ltd|Co|vs|No|Nr|p|pp|ca|bzw|etc|approx|Jan|Feb|Aug|Sept|Oct|Nov|Dec)\.$"
)
# The line above the rule of a table names its columns.
_TABLE_HEAD = re.compile(
    r"^[^\n|]*+\|[^\n]*+\n(?=[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$)", re.MULTILINE
)
_STRUCTURE = re.compile(r"^\s*+(?:#{1,6}\s|\|?[\s:|-]++$)")
_NUMBER = re.compile(r"\d")
_DOCUMENTS = (
    r"(?:documents?|passages?|library|sources?|notes?|texts?|pages?|journals?|minutes|files?|excerpts?|results?|"
    r"dokumenten?|quellen?|texte?|documentos?|textos?|fuentes?)"
)
_SAYS = (
    r"say|state|mention|specify|explain|indicate|reveal|tell|give|name|answer|cover|contain|include|describe|list|"
    r"provide|discuss|address|go|help|said|told|mentioned|stated|speak|talk|deal|hold|record|have|know"
)
# Each says that something was not found, or that the documents don't have it.
_GAPS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:^|\b(?:I|we|but|and) )(?:could ?n[o'’]t|could not|did ?n[o'’]t|did not|can ?n[o'’]t|was ?n[o'’]t able to|"
        r"(?:am|was|were) unable to|haven['’]t|have not) (?:find|found|locate|see|tell|determine)\b",
        r"\b(?:(?:I|we) found (?:nothing|no\b)|I (?:searched|looked|quote)\b)",
        r"\bno (?:mention|passage|information|documents?|sources?|evidence|reference|answer)\b",
        r"\b(?:(?:nichts|keine\w*(?: \w+)?) (?:dazu |darüber |davon )?(?:gefunden|finden)|nicht (?:gefunden|finden))",
        r"\bno (?:he )?(?:encontr|pude encontrar|aparece|hay (?:nada|información|mención))\w*",
        rf"\b{_DOCUMENTS} (?:here )?(?:do|does|did|has|have|are|is|sagen|sagt|nennen|nennt|no)"
        r"(?: not|n['’]t| nothing| no| nicht| nichts)\b",
        r"(?<!said )(?<!knew )(?<!heard )\bnothing (?:in|on|about|says?|names?|tells?)\b",
        rf"\b(?:none|neither) of (?:the|these|those|them)\b[^.!?\n]{{0,40}}?\b(?:{_SAYS})s?\b",
        r"\b(?:is|are|was|were|has|have)(?: not|n['’]t)(?: been)? (?:given|stated|mentioned|said|named|specified|"
        r"covered|recorded|listed|described|found|known|clear|available|documented|included|provided)\b"
        r"(?! (?:to|for|by|among)\b)",
        r"\bno \w+(?: \w+)? (?:is|are|was|were) (?:given|stated|mentioned|said|named|specified|recorded|listed)\b",
        r"\b(?:remains?|is|are) (?:unclear|unknown|unstated|unspecified)\b",
        r"\b(?:it|question|point|matter)s? (?:is|are|remains?) (?:still )?open\b",
        r"\b(?:does|do)(?: not|n['’]t) (?:say|state|mention|specify|explain|indicate|reveal|tell)\b",
        r"\b(?:sagt|nennt|erwähnt|verrät)\b[^.!?\n]{0,40}?\bnicht\b|\bno (?:dice|menciona|indica|especifica)\b",
        r"\b(?:steht|stehen|findet sich|finden sich) (?:dort |hier |darin |davon |dazu )?(?:nichts|kein\w*)\b",
        r"\bfound (?:no|nothing)\b|\bno he (?:encontrado|visto|podido)\b|\bno encontr\w+\b",
        r"\b(?:wird|werden|ist|sind) nicht (?:genannt|erwähnt|angegeben|gesagt)\b",
        r"\bno se (?:dice|menciona|indica|especifica)\b",
        r"\bn['’](?:ai|avons|a) (?:pas|rien) (?:pu )?(?:trouv|vu)\w*|\bne (?:dit|disent|mentionne|mentionnent|précise|"
        r"précisent|indique|indiquent) (?:pas|rien)\b",
        r"\b(?:ich zitiere|cito|je cite) (?:die|los|les) do[ck]ument",  # the note of an answer without a model
        rf"\b{_DOCUMENTS}\b(?:(?!\b(?:that|which|suggest|suggests|shows?)\b)[^.!?\n]){{0,60}}?"
        rf"\b(?:do|does|did|has|have)(?: not|n['’]t) (?:\w+ )?(?:{_SAYS})\b",
        rf"\b{_DOCUMENTS}\b[^.!?\n]{{0,40}}?\b(?:has|have|says?|holds?|contains?|names?) (?:nothing|no|none)\b",
        rf"\b(?:none|nothing|neither)\b[^.!?\n]{{0,40}}?\b{_DOCUMENTS}\b",
        rf"\b{_DOCUMENTS}\b[^.!?\n]{{0,40}}?\b(?:nichts|nicht|nada)\b",
    )
)
# Gaps of a catalogue: whole sentences about it, since "there is no page limit" is a claim.
_ENTRY = r"(?:page|chapter|section|table|figure|appendix|document|file|entry|entries|record|journal|note|heading)s?"
_EINTRAG = r"(?:seiten?|kapitel|abschnitte?|tabellen?|dokumente?|datei(?:en)?|eintrag|einträge|angaben?|solche\w* \w+)"
_ENTRADA = r"(?:página|capítulo|sección|tabla|documento|archivo|entrada|relación|dato|registro|tal \w+)s?"
_WHICH = r"(?: \d[\w.]{0,6})?(?: (?:called|about|on|in|of|sobre|de|über|dazu|darüber|así)\b[^.;,!?\n]{0,60})?"
_TOLD = r"(?:known|given|recorded|stated|told|listed|mentioned|found|named|noted|documented|said|written)"
_END = r"[.!]?$"
_MISSING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:there (?:is|are|was|were)|(?:the|this|that) \w+ has|it has) no (?:{_ENTRY}|such \w+){_WHICH}{_END}",
        rf"^no (?!\w+ \w+ found)\w+ (?:\w+ ){{0,5}}?(?:is|are|was|were|has been|have been) {_TOLD}{_END}",
        rf"^no (?:{_ENTRY}|such \w+){_WHICH} exists?{_END}",
        rf"^(?:the |that |this )?{_ENTRY}{_WHICH} (?:does not|doesn['’]t) exist",
        rf"^nothing (?:else |more |further )?(?:is|was|has been) {_TOLD}\b",
        rf"\b(?:is|are|was|were) (?:never|nowhere) {_TOLD}{_END}|\bremains? (?:unsaid|untold)\b",
        r"^(?:I|we) (?:know of|see|have) no such\b",
        rf"^(?:es gibt|(?:das|die|der|dieses) \w+ hat) kein\w* {_EINTRAG}{_WHICH}{_END}",
        rf"^(?:ein\w* )?{_EINTRAG}(?: \d+)? (?:gibt es|existiert|existieren) nicht{_END}",
        rf"^(?:zu\w*|über|dazu|darüber)\b[^.;,!?\n]{{0,40}}? gibt es (?:keine? {_EINTRAG}|nichts){_END}",
        rf"^(?:\w+ ){{1,4}}(?:ist|sind) (?:nicht bekannt|unbekannt){_END}|\bnichts bekannt{_END}",
        rf"^(?:es )?(?:ist|sind) keine? (?:\w+ )?\w+ bekannt{_END}",
        r"\b(?:nichts|nirgends) (?:gesagt|erwähnt|angegeben|genannt|berichtet|vermerkt)\b|\bnirgends die rede\b",
        rf"^no (?:hay|existen?) (?:ning\w+ |la |el |las |los )?{_ENTRADA}{_WHICH}{_END}",
        rf"^(?:la |el |tal |ese |esa )?{_ENTRADA}(?: \d+)? no existe{_END}",
        rf"^(?:el|este|la|esta) \w+ no tiene (?:la |el |ning\w+ )?{_ENTRADA}{_WHICH}{_END}",
        r"^(?:no se (?:conoce|sabe|dice|menciona|indica) (?:nada|tal|ning\w+|cu\w+|qui\w+)|nada se (?:dice|sabe))\b",
        rf"\bno constan?\b|\b(?:es|son) desconocid[oa]s?{_END}",
    )
)
# Words before the sentence itself.
_LEAD = re.compile(
    r"^(?:\W*(?:sure|ok(?:ay)?|yes|no|well|indeed|of course|certainly|in short|hello|hi|hallo|hola|thanks|thank you|"
    r"danke|gracias|you're welcome|bitte)\b[\s,.!:]*+)*+\W*+",
    re.IGNORECASE,
)
# Beginnings of sentences to the reader: offers, questions back, courtesies, caveats, announcements.
_OPENINGS = (
    *("let me know", "please let me know", "would you like", "do you want", "did you mean", "shall i", "should i"),
    *("may i", "if you like", "if you want", "if you wish", "if you need", "if you'd like", "if you would like"),
    *("just ask", "feel free", "i'm happy", "i am happy", "i'm glad", "i am glad", "happy to", "glad to", "i hope"),
    *("hope this", "hope that", "good question", "good luck", "that's a", "here's", "here is", "here are", "now to"),
    *("as for your", "take this", "please check", "please verify", "please note", "please keep", "please ask"),
    *("please see", "please bear in mind", "bear in mind that i", "please remember", "remember that i"),
    *("if it helps", "if that helps", "if this helps", "if useful", "i can also", "i could also", "i may have missed"),
    *("i might have missed", "i may be missing", "i may have overlooked", "turning to", "moving on to", "coming to"),
    *("on to your", "as to your", "regarding your", "about your", "that is a", "that is an", "that's an", "glad i"),
    *("soll ich", "ich kann auch", "ich könnte auch", "viel erfolg", "puedo también", "también puedo", "buena suerte"),
    *("note that i", "keep in mind", "i only have", "i only see", "i only read", "i've only"),
    *("i have only", "i've summarised", "i have summarised", "i've summarized", "i have summarized", "i've listed"),
    *("i have listed", "i've quoted", "i have quoted"),
    *("möchtest du", "möchten sie", "soll ich", "sag bescheid", "sag mir bescheid", "sagen sie bescheid"),
    *("sagen sie mir bescheid", "wenn du", "lass mich", "lass es mich", "gern ", "gerne", "hier ist", "hier sind"),
    *("frag ", "fragen sie ", "quieres", "avísame", "si quieres", "dime", "aquí está", "aquí tienes", "aquí están"),
)
_ANNOUNCEMENTS = re.compile(
    r"i can (?:also |then )?(?:look|list|show|compare|summari[sz]e|search|check|read|give|tell|help)\b|"
    r"the (?:details|full list|rest|following|answer) (?:follows?|is below|below)\b|"
    r"(?:one|two|three|several|some|a few) (?:passages?|documents?|pages?) (?:deal|mention|speak|talk|touch|cover)",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of a text in order, each with its markers, without code and heads of tables."""
    apart = [*code_spans(text), *(Span(match.start(), match.end()) for match in _TABLE_HEAD.finditer(text))]
    pending: int | None = None
    for match in _SENTENCE.finditer(text):
        start = match.start() if pending is None else pending
        if _ABBREVIATION.search(match.group()) and text[match.end() : match.end() + 1] == " ":
            pending = start
            continue
        pending = None
        # A mark behind the last cell would be no part of the table.
        sentence = text[start : match.end()].rstrip().removesuffix("|").rstrip()
        span = Span(start + len(sentence) - len(sentence.lstrip()), start + len(sentence))
        if span.start < span.end and not any(block.start <= span.start < block.end for block in apart):
            yield span
    if pending is not None:
        yield Span(pending + len(text[pending:]) - len(text[pending:].lstrip()), len(text.rstrip()))


def is_claim(sentence: str) -> bool:
    """Whether a sentence states something that documents could say."""
    bare = _bare(sentence)
    if bare.endswith((":", "?", "？", "：")) or _STRUCTURE.match(bare) or _is_talk(bare) or is_about_the_search(bare):
        return False
    least = MIN_ROW_WORDS if "|" in bare else MIN_CLAIM_WORDS
    return len(content_words(bare)) >= least or bool(_NUMBER.search(bare))


def is_about_the_search(sentence: str) -> bool:
    """Whether a sentence is about something that was not found, or that the documents don't have."""
    return any(pattern.search(sentence) for pattern in (*_GAPS, *_MISSING))


def only_says_not_found(text: str) -> bool:
    """Whether a text states nothing but that something was not found; talk and questions may go with it."""
    said = [_bare(span.of(text)) for span in sentences(text)]
    told = [sentence for sentence in said if not sentence.endswith(("?", "？", ":")) and not _is_talk(sentence)]
    return bool(told) and all(map(is_about_the_search, told))


def to_last_sentence(segments: tuple[CitedText, ...]) -> tuple[CitedText, ...]:
    """Cut a text that ends in the middle behind its last whole sentence; one without any stays."""
    text = "".join(segment.text for segment in segments)
    ends = [
        span.end
        for span in sentences(text)
        if text[: span.end].rstrip("\"'”’)]*_0123456789[ ").endswith((".", "!", "?"))
    ]
    if not ends:
        return segments
    kept, left = [], ends[-1]
    for segment in segments:
        if left <= 0:
            break
        kept.append(segment if len(segment.text) <= left else CitedText(text=segment.text[:left]))
        left -= len(segment.text)
    return tuple(kept)


def blocks(text: str, spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Group sentences by block: a paragraph, a list item, a row."""
    block: list[Span] = []
    for span in spans:
        if block and "\n" in text[block[-1].end : span.start]:
            yield block
            block = []
        block.append(span)
    if block:
        yield block


def _is_talk(bare: str) -> bool:
    """Whether a sentence only speaks to the reader."""
    rest = _LEAD.sub("", bare)
    return not rest or rest.casefold().startswith(_OPENINGS) or _ANNOUNCEMENTS.match(rest) is not None


def _bare(sentence: str) -> str:
    return MARKER.sub("", sentence).strip().strip("*_ ")
