# ruff: noqa: E501 - tables of words are read across
"""Greetings, thanks, goodbyes and other words that ask nothing, in English, German, Spanish and French. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Courtesy(StrEnum):
    GREETING = "greeting"
    THANKS = "thanks"
    BYE = "bye"
    ACKNOWLEDGEMENT = "acknowledgement"  # "ok", "got it", "great", "alles klar"
    LAUGH = "laugh"
    FILLER = "filler"  # "hm", "wait", "interesting"


# Phrases, parted by commas.
_PHRASES = {
    Courtesy.GREETING: """hi, hello, hey, hiya, hey there, hi there, hello there, greetings, good morning, good afternoon,
        good evening, good day, morning, evening, howdy, yo, sup, how are you, how are you doing, how is it going,
        hows it going, what's up, whats up, hallo, moin, moin moin, servus, grüß gott, grüezi, guten morgen, guten tag,
        guten abend, guten, tach, wie geht's, wie gehts, wie geht es dir, na, hola, buenas, buenos días, buenos dias,
        buenas tardes, buenas noches, buen día, qué tal, que tal, cómo estás, como estas, bonjour, salut, bonsoir, coucou,
        ça va, ca va, comment ça va, comment vas-tu, allô, slt, helo, huhu, hallöchen, hi du, buen dia, qué onda,
        que onda, are you there, anyone there, anybody there, you there,
        bist du da, estás ahí, tu es là, ciao, nice to meet you, welcome, willkommen""",
    Courtesy.THANKS: """thanks, thank you, thx, ty, tysm, thank u, cheers, ta, tnx, much appreciated, appreciated,
        appreciate it, many thanks, thanks a lot, thank you so much, danke, dankeschön, danke schön, danke dir,
        danke sehr, dank dir, dank euch, thanx, thnx, thankyou, many thx, vielen dank, besten dank, herzlichen dank,
        tausend dank, merci, merci beaucoup, merci bien, gracias, muchas gracias, mil gracias, muchísimas gracias,
        te lo agradezco, that helped, this helped,
        very helpful, that was helpful, so helpful, das hat geholfen, hat geholfen, sehr hilfreich, me ha ayudado,
        muy amable, qué amable, sehr nett, très gentil, c'est gentil, how kind, very kind, grazie, grazie mille,
        nice one, good bot, great bot, good job, well done, nice work, great work, good work, you're the best,
        you rock, you're great, guter bot, gut gemacht, buen trabajo, bien hecho, bon travail, bien joué,
        that's all, thats all, that is all, that's it, thats it, das war's, das wars, das war alles, eso es todo,
        c'est tout""",
    Courtesy.BYE: """bye, bye bye, goodbye, good bye, good night, see you, see ya, cya, later, talk later,
        talk to you later, have a nice day, have a good one, tschüss, tschüß, tschau, bis später, bis dann, bis bald,
        gute nacht, auf wiedersehen, schönen tag noch, adiós, adios, hasta luego, hasta mañana, nos vemos, chao,
        au revoir, à bientôt, à plus, à demain, bonne nuit, bonne journée, bonne soirée, bon week-end, à tout à l'heure,
        bis morgen, schönen abend, schönen abend noch, schönes wochenende, mach's gut, machs gut, ciao ciao,
        hasta la próxima, hasta pronto, buen finde, buen fin de semana, gtg, g2g, ttyl, see you later,
        see you tomorrow, have a nice evening, have a nice weekend, have a good evening""",
    Courtesy.ACKNOWLEDGEMENT: """ok, okay, okey, okey dokey, kk, k, okie, got it, gotcha, understood, i see, ah ok, ah,
        aha, oh, ooh, right, alright, all right, sure, fine, good, great, perfect, awesome, amazing, excellent, brilliant,
        cool, sweet, nice, neat, noice, wow, whoa, yes, yep, yup, yeah, yay, true, exactly, makes sense, noted, good to know,
        sounds good, lovely, fantastic, wonderful, super, top, toll, klasse, prima, spitze, geil, ach so, achso,
        alles klar, verstanden, gut, sehr gut, genau, stimmt, passt, in ordnung, ja, jo, jap, perfekt, wunderbar,
        vale, de acuerdo, entendido, perfecto, genial, estupendo, bien, muy bien, bueno, claro, sí, guay, buenísimo,
        excelente, d'accord, compris, parfait, très bien, entendu, oui, bien sûr, génial, chouette,
        impeccable, nickel, that works, works for me, done, agreed, same, oof, ouch, damn, dang, yikes, uh oh, ups, oops,
        mist, vaya, mince, zut, huh, lgtm, ship it, hooray, woohoo, yass, yes please, no problem, np, nice nice, fair,
        fair enough, point taken, good point, good one, will do, on it, mega, krass""",
    Courtesy.LAUGH: """lol, lmao, rofl, haha, hahaha, hahahaha, hehe, hihi, jaja, jajaja, mdr, ptdr, xd, lel, heh, ha""",
    Courtesy.FILLER: """hm, hmm, hmmm, mhm, mm, uh, um, erm, äh, ähm, eh, euh, well, wait, hold on, hang on, one sec,
        one moment, moment, warte, moment mal, espera, attends, un moment, interesting, interessant, interesante,
        intéressant, anyway, anyways, so, also, tja, naja, never mind, nevermind, nvm, egal, quick one, quick question,
        a question, one question, i have a question, got a question, i've got a question, eine frage,
        ich habe eine frage, kurze frage, und noch was, noch was, noch eine frage, one more thing, one more, another one,
        una pregunta, tengo una pregunta, otra cosa, une question, j'ai une question, got a sec, got a minute,
        do you have a minute""",
}
# Words that may occur among courtesies.
_BESIDE = frozenset(
    """a lot so much very again all everyone everybody folks team guys there you u for the your that this help bot
    footnote me us now today then and too really dir euch sehr für die hilfe das alle alles leute zusammen und noch
    mal nochmal wieder por la ayuda a todos todas y muy tu su pour l'aide ton votre à tous tout le monde et pal mate
    man dude buddy friend sir please pls bitte indeed one info information answer antwort respuesta réponse it
    of course very much well truly kindly once more yesterday gestern ayer hier dear lieber liebe dann""".split()
)
# Words that are a courtesy only before a pause: "right, and when?", but "right of way".
_ALSO_OTHERWISE = frozenset(
    """right fine good great fair same well true top toll gut bien bueno super true sweet cool neat nice later morning
    evening welcome top claro na ta ha eh stimmt passt sure done super agreed moment wait same yo sup bis""".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_STRETCHED = re.compile(r"(\w)\1{2,}")
_MOST_WORDS = 5  # of a phrase


def _table() -> Mapping[tuple[str, ...], Courtesy]:
    return {
        tuple(word.replace("’", "'") for word in _WORD.findall(phrase.casefold())): kind
        for kind, phrases in _PHRASES.items()
        for phrase in phrases.split(",")
    }


_KNOWN = _table()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A message in parts: its courtesies in order, and the rest behind and before them, which may ask something."""

    kinds: tuple[Courtesy, ...]
    rest: str

    @property
    def is_all(self) -> bool:
        """Whether it consists of courtesies only, or has no words at all."""
        return not self.rest


def read_courtesies(text: str) -> Spoken:
    """Return the courtesies at the beginning and the end of a text, and the rest between them.

    "Thanks, and when?" has the rest "and when?". Emoji, signs and links without words are no rest.
    """
    found = [*_WORD.finditer(text)]
    said = [_STRETCHED.sub(r"\1", item.group().casefold().replace("’", "'")) for item in found]
    raw = [item.group().casefold().replace("’", "'") for item in found]
    kinds: list[Courtesy] = []
    first, last = 0, len(found)
    while first < last:
        size, kind = _begin(raw, said, first, last)
        is_part = (
            said[first] in _ALSO_OTHERWISE
            and _goes_on(text, found, first + size - 1)
            and not _only_beside(raw, said, first + size, last)
        )
        if kind is not None and not is_part:
            kinds.append(kind)
        elif not (kinds and said[first] in _BESIDE and _only_beside(raw, said, first, last)):
            break
        first += size
    while last > first:
        size, kind = _end(raw, said, first, last)
        if kind is None or kind is Courtesy.ACKNOWLEDGEMENT:
            break
        kinds.append(kind)
        last -= size
    if first >= last:
        return Spoken(kinds=tuple(kinds), rest="")
    if not kinds:
        return Spoken(kinds=(), rest=text.strip())
    end = len(text) if last == len(found) else found[last].start()
    return Spoken(kinds=tuple(kinds), rest=text[found[first].start() : end].strip().rstrip(",;"))


def _only_beside(raw: list[str], said: list[str], first: int, last: int) -> bool:
    """Return whether the words up to the next courtesy, or the end, may occur among courtesies."""
    for place in range(first, last):
        if _begin(raw, said, place, last)[1] is not None:
            return True
        if said[place] not in _BESIDE:
            return False
    return True


def _goes_on(text: str, found: list[re.Match[str]], place: int) -> bool:
    """Return whether another word follows a word without a sign between them."""
    return place + 1 < len(found) and not text[found[place].end() : found[place + 1].start()].strip()


def _begin(raw: list[str], said: list[str], first: int, last: int) -> tuple[int, Courtesy | None]:
    for size in range(min(_MOST_WORDS, last - first), 0, -1):
        for forms in (raw, said):
            kind = _KNOWN.get(tuple(forms[first : first + size]))
            if kind is not None:
                return size, kind
    return 1, None


def _end(raw: list[str], said: list[str], first: int, last: int) -> tuple[int, Courtesy | None]:
    for size in range(min(_MOST_WORDS, last - first), 0, -1):
        for forms in (raw, said):
            kind = _KNOWN.get(tuple(forms[last - size : last]))
            if kind is not None:
                return size, kind
    return 1, None


def has_words(text: str) -> bool:
    """Whether a text says anything in words, links apart."""
    return _WORD.search(_LINK.sub(" ", text)) is not None


_LINK = re.compile(r"https?://\S+")


def without_links(text: str) -> str:
    return _LINK.sub(" ", text).strip()
