# ruff: noqa: E501 - tables of words are read across
"""The form of a message, and whether it depends on the talk before it: English, German, Spanish and French. Pure.

Rules over words, each about a kind of sentence. In doubt a message asks nothing.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from core.text.language import FUNCTION_WORDS
from core.text.words import STOPWORDS, WORD, content_words


class Form(StrEnum):
    QUESTION = "question"  # has the form of one, with or without a question mark
    REQUEST = "request"  # "list the ...", "tell me ..."
    CORRECTION = "correction"  # "no, I meant ..."
    FRAGMENT = "fragment"  # a few words that could continue a question: "and the second one", "in 2023?"
    STATEMENT = "statement"


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUESTION_WORDS = frozenset(
    """who whom whose what whats what's which when whens when's where wheres where's why how hows how's who's whos
    wer wen wem wessen was welche welcher welches welchen welchem wann wo woher wohin warum wieso weshalb wie wieviel
    wieviele womit wofür worüber worum wozu wovon woran
    qué quién quiénes cuál cuáles cuándo dónde adónde cómo cuánto cuánta cuántos cuántas quien quienes cual cuales
    cuando donde como cuanto cuanta cuantos cuantas
    qui quoi quel quelle quels quelles quand où comment combien pourquoi lequel laquelle qu'est qu'est-ce""".split()
)
_VERBS_FIRST = frozenset(
    """is are was were am do does did can could may might must shall should will would has have had isn't aren't wasn't
    weren't don't doesn't didn't can't couldn't won't wouldn't shouldn't hasn't haven't hadn't
    ist sind war waren hat haben hatte hatten kann können kannst könnt konnte darf dürfen durfte muss müssen musste soll
    sollen sollte gibt gab wird werden wurde wurden würde bin bist gilt gelten geht gehen kommt kostet dauert steht
    es son está están hay fue fueron puede pueden puedo debe deben tiene tienen había hubo puedes podemos
    est sont était étaient peut peuvent puis-je doit doivent a-t-il y-a-t-il faut-il existe""".split()
)
_REQUESTS = frozenset(
    """list show tell give summarise summarize recap explain describe compare find name count calculate quote cite remind
    define enumerate
    nenne nenn zeig zeige liste erkläre erklär sag sage gib vergleiche suche such finde fasse beschreibe
    dime lista muestra muéstrame explica explícame resume enumera compara busca dame cuéntame nombra resumen
    dis montre explique résume compare cherche trouve donne énumère cite décris""".split()
)
_LEADS = frozenset(
    """and n so but or also then now btw ok wait well oh hm hmm please pls just plus by out till until under within
    und aber oder auch dann also bitte noch y e o pero entonces también et ou mais donc alors aussi to in at
    for from on of with since about nach bis seit für von zu
    mit an auf im in ab desde hasta para por de en a con à de depuis pour avec dans jusqu'à sur""".split()
)
_NEEDS = tuple(
    re.compile(rf"^\W*(?:{beginning})\b", re.IGNORECASE)
    for beginning in (
        r"i (?:need|want|wanted|would like|'d like) to know|i'd like to know|i wonder|wondering|any idea",
        r"(?:can|could|would|will) (?:you|u|anyone|someone|somebody) (?:please )?(?:tell|show|list|find|explain|sum|"
        r"summari[sz]e|describe|compare|look|check|remind|give|say)",
        r"sum up|look up|what about|how about|how come",
        r"(?:anyone|anybody|someone|somebody) knows? (?:how|what|when|where|who|which|why|whether|if)",
        r"ich (?:möchte|würde gern|will) wissen|quiero saber|quisiera saber|necesito saber",
        r"je voudrais savoir|je veux savoir",
    )
)
_CORRECTION = re.compile(
    r"(?:^|\b(?:no|nope|sorry|wrong one|not that one|actually|nein|no,|non|pardon|perdón)\b\W{0,3})"
    r"\W{0,3}(?:i (?:mean|meant)|ich (?:meine|meinte)|meinte|quise decir|quería decir|me refiero a|me refería a|"
    r"je (?:voulais dire|parlais de|veux dire))\b|\bi meant\b|\bi mean\W{0,3}$|\bich mein(?:t)?e\b",
    re.IGNORECASE,
)
_CONNECTED = re.compile(
    r"^\W*(?:and|n|und|y|et|e|what about|how about|same for|or|oder|was ist mit)\s+\S", re.IGNORECASE
)
_FRAGMENT_WORDS = 5
# "And for leaving it there", "and if it gets dark": of more words.
_CONNECTED_CASE = re.compile(
    r"^\W*(?:and|n|und|y|et) (?:if|wenn|falls|si|for|in|on|at|with|without|after|before|from|to|by|für|im|mit|ohne|"
    r"bei|nach|vor|para|en|con|sin|por|pour|dans|avec|sans|après|avant)\s",
    re.IGNORECASE,
)
_CASE_WORDS = 8
# A question word at the end: "roll on what", "so we took in how much more", "ça sera gratuit jusqu'à quel âge".
_ASKS_LAST = tuple(
    re.compile(rf"\b(?:{ending})\W*$", re.IGNORECASE)
    for ending in (
        r"(?:on|by|to|for|from|with|in|at|of|until|till|since|or) (?:what|who|whom|when|where|how|which(?: one)?)",
        r"(?<!know )(?<!idea )(?<!see )how (?:much|many|long|often|far)(?: more| less| fewer| in total| altogether)?",
        r"(?:bis|seit|für|mit|von|zu|an) (?:wann|wen|wem|welchem?|was)",
        r"(?:de|en|a|para|con|hasta|desde) (?:qué|quién|cuándo|dónde)(?: \w+)?",
        r"(?:à|de|pour|avec|dans|jusqu'à|depuis) (?:quoi|qui|quand|où)",
        r"(?:is|are|was|were|due|starts?|begins?|ends?|opens?|closes?|leaves?) (?:when|where)",
        r"(?<!nicht )(?<!weiß )(?<!ahnung )(?:wann|wie ?viele?)|(?<!sé )(?<!sabe )(?:cuándo|cuánto|dónde)",
        r"(?<!sais )(?<!sait )(?<!pas )(?:quand|combien|quel(?:le)?s? \w+)",
    )
)
# A reaction to an answer: "writing that down", "doing it now", "love this".
_DOES_SO = re.compile(
    r"^\W*(?:[a-z]{2,12}(?:ing|ed)|love|like|got|saw|did|on) (?:that|it|this|these|those|them)(?: [a-z]{1,12})?\W*$",
    re.IGNORECASE,
)
# English words that continue or point back to the question before, and "it" and "there" that point to nothing.
_CONTINUES = re.compile(r"^\W*(?:and|so|but|then|also|what about|how about|or|same for)\b", re.IGNORECASE)
_POINTS_BACK = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:its|he|she|him|her|his|hers|they|them|their|theirs|those|these|there|else|altogether|instead|itself)\b",
        r"\b(?:the|that|this) (?:one|other|same)\b|\bthe others?\b|\b(?:then|one)\W*$",
        r"\bit\b(?! (?:takes?|is|was|possible|rain|mean)\b)",
        r"\b(?:that|this)\b(?= \w+[?]|[?]|$)",
        r"\b(?:that|this)\b(?= (?:\w+ ){0,2}(?:need|change|mean|cost|take|get|call|file|command|work)\b)",
        r"\b(?:get|do|did|does|was|is|will|of|for|with|to|by|about|change) (?:that|this)\b",
    )
)
_EXPLETIVE = re.compile(
    r"\b(?:does|did|will|would|can|could|is|was) it (?:take|possible|mean|happen|matter)\b"
    r"|\b(?:is|are|was|were) there\b"
    r"|\bhow (?:long|much|many \w+) (?:does|did|will|would) it take\b",
    re.IGNORECASE,
)
STANDALONE_WORDS = 2  # with fewer content words and no name, a question has no subject of its own
LONGEST = 600  # characters

# Words that begin the subject of a question behind its verb.
_SUBJECTS = frozenset(
    """the a an you u i we they he she it there this that these those any all my our your someone anyone
    du ich wir ihr sie er es man der die das ein eine mir uns bitte el la los las un una usted hay que
    le les il elle on tu vous nous ce cette""".split()
)
_LAUGHING = frozenset("😀😁😂😃😄😅😆😉😏😜😝🙃🤣🤪")
_LAUGHS = ("lol", "lmao", "haha", "hehe", "rofl", "jaja", "mdr", "xd")
# Words that point to the message before, by any person.
_POINTING = frozenset(
    """it its that this those these they them he she him her his one ones which what why how when where who there then
    really and so or to for in at the a is are was were do does did not no yes again else more come
    das dies es er sie ihn ihm ihr die der den wann warum wieso wo wer was und denn da dann noch
    eso esto él ella ellos lo la cuándo dónde por qué quién y para
    ça cela il elle ils le les quand où pourquoi qui quoi et alors""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The form of a message."""

    form: Form
    is_elliptical: bool = False  # it has no subject of its own: "why?", "which one", "and then"
    is_connected: bool = False  # it begins as the continuation of a question: "and the second"


def read_asked(text: str) -> Asked:
    """Read a message without its courtesies (core/text/courtesies.py). Of a long one, the end asks."""
    text = text[-LONGEST:]
    said = [item.group().casefold().replace("’", "'") for item in _WORD.finditer(text)]
    form = _form(text, said)
    return Asked(
        form=form,
        is_elliptical=all(word in _POINTING for word in said) or len(said) <= 1,
        is_connected=_CONNECTED.search(text) is not None,
    )


def points_back(question: str) -> bool:
    """Return whether an English question points to the talk before it by its words: "when was she built?"."""
    rest = _EXPLETIVE.sub(" ", question)
    return _CONTINUES.search(question) is not None or any(pattern.search(rest) for pattern in _POINTS_BACK)


def is_follow_up(question: str) -> bool:
    """Return whether a question depends on the talk before it."""
    if points_back(question):
        return True
    named = any(word[0].isupper() or any(map(str.isdigit, word)) for word in WORD.findall(question)[1:])
    return not named and len(content_words(question)) < STANDALONE_WORDS


def is_about(text: str) -> bool:
    """Whether a name before the text is its subject: "is down?", unlike "is the hatch open?"."""
    said = [item.group().casefold().replace("’", "'") for item in _WORD.finditer(text[:LONGEST])]
    return bool(said) and said[0] in _VERBS_FIRST and (len(said) == 1 or said[1] not in _SUBJECTS)


def ends_lightly(text: str) -> bool:
    """Return whether a message trails off ("..."), or ends with a laugh."""
    end = len(text)
    while end and not text[end - 1].isalnum():
        end -= 1
    tail = text[end:]
    last = text[:end].rsplit(maxsplit=1)[-1:] or [""]
    is_laugh = any(sign in _LAUGHING for sign in tail) or last[0].casefold().startswith(_LAUGHS)
    return is_laugh or "..." in tail or "…" in tail


def count_telling(text: str) -> int:
    """Count the words that name a subject."""
    said = {item.group().casefold().replace("’", "'") for item in _WORD.finditer(text)}
    return len(said - STOPWORDS - FUNCTION_WORDS - _POINTING - _QUESTION_WORDS - _LEADS)


def _form(text: str, said: list[str]) -> Form:
    if _CORRECTION.search(text):
        return Form.CORRECTION
    if any(beginning.search(text) for beginning in _NEEDS):
        return Form.REQUEST if not text.rstrip().endswith("?") else Form.QUESTION
    if any(_begins_question(clause) for clause in re.split(r"[,;:.!\n–—-]+", text)):
        return Form.QUESTION
    if said and said[0] in _REQUESTS:
        return Form.REQUEST
    if len(said) == 1 and said[0] in _QUESTION_WORDS:
        return Form.QUESTION
    if ("?" in text and not text.lstrip().startswith(">")) or any(ending.search(text) for ending in _ASKS_LAST):
        return Form.QUESTION
    if _CONNECTED.search(text) and len(said) <= (_CASE_WORDS if _CONNECTED_CASE.search(text) else _FRAGMENT_WORDS):
        return Form.FRAGMENT
    if _DOES_SO.match(text):
        return Form.STATEMENT
    return Form.FRAGMENT if 0 < len(said) <= 3 else Form.STATEMENT


def _begins_question(clause: str) -> bool:
    """Return whether a clause begins as a question does, after words that lead to it ("and", "to", "in")."""
    said = [item.group().casefold().replace("’", "'") for item in _WORD.finditer(clause)][:4]
    for place, word in enumerate(said):
        if word in _QUESTION_WORDS:
            return place + 1 < len(said) or place > 0 or "?" in clause
        if word in _VERBS_FIRST and place <= 1:
            if word == "don't" and said[place + 1 : place + 2] and said[place + 1] not in _SUBJECTS:
                return "?" in clause  # "don't tell me"
            least = 3 if word == "do" else 2  # "do the maths" is a request
            return place + least < len(said) or "?" in clause
        if word not in _LEADS:
            return False
    return False
