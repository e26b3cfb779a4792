"""The sentences of answers without a model, in the language of the person who asks. Quotes stay as they are written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.domain.answer import Answer
from core.text.language import Language
from core.text.spelling import Correction

_EN, _DE, _ES, _FR = Language.ENGLISH, Language.GERMAN, Language.SPANISH, Language.FRENCH

# Ends the first answer of a conversation.
QUOTES_NOTE: Mapping[Language, str] = {
    _EN: "I quote the documents rather than write: no language model is set up.",
    _DE: "Ich zitiere die Dokumente, statt zu schreiben: Es ist kein Sprachmodell eingerichtet.",
    _ES: "Cito los documentos en vez de escribir: no hay ningún modelo de lenguaje configurado.",
    _FR: "Je cite les documents au lieu d'écrire : aucun modèle de langue n'est configuré.",
}
NOT_FOUND: Mapping[Language, str] = {
    _EN: "I did not find an answer to this in the documents",
    _DE: "Dazu habe ich in den Dokumenten keine Antwort gefunden",
    _ES: "No he encontrado ninguna respuesta a esto en los documentos",
    _FR: "Je n'ai pas trouvé de réponse à cela dans les documents",
}
CLOSEST: Mapping[Language, str] = {
    _EN: "; the closest passages are in ",
    _DE: "; am nächsten kommen dem Stellen in ",
    _ES: "; los pasajes más cercanos están en ",
    _FR: " ; les passages les plus proches sont dans ",
}
PART_NOT_FOUND: Mapping[Language, str] = {
    _EN: "I did not find an answer to “",
    _DE: "In den Dokumenten habe ich keine Antwort gefunden auf: „",
    _ES: "No he encontrado en los documentos ninguna respuesta a: “",
    _FR: "Je n'ai pas trouvé de réponse dans les documents à : « ",
}
SEARCHED: Mapping[Language, str] = {
    _EN: "(Searched: ",
    _DE: "(Gesucht: ",
    _ES: "(He buscado: ",
    _FR: "(Recherché : ",
}
_OPEN = {_EN: "“", _DE: "„", _ES: "“", _FR: "« "}
_CLOSE = {_EN: "”", _DE: "“", _ES: "”", _FR: " »"}
_AND = {_EN: "” and “", _DE: "” und “", _ES: "” y “", _FR: "” et “"}
_READ = {
    _EN: "I read {words}.",
    _DE: "Ich lese {words}.",
    _ES: "Leo {words}.",
    _FR: "Je lis {words}.",
}
_AS = {_EN: "as", _DE: "als", _ES: "como", _FR: "comme"}
_IN_ENGLISH = {
    _EN: "I read your question in English: “{text}”",
    _DE: "Ich habe deine Frage auf Englisch so gelesen: „{text}“",
    _ES: "He leído tu pregunta en inglés así: “{text}”",
    _FR: "J'ai lu votre question en anglais comme suit : « {text} »",
}


def is_quotes_note(text: str) -> bool:
    """Whether a text has the note about quotes, in any language."""
    return any(note in text for note in QUOTES_NOTE.values())


def without_quotes_note(text: str) -> str:
    """Return a text without that note, which the frame of each web page has."""
    for note in QUOTES_NOTE.values():
        text = text.replace(f"\n\n{note}", "")
    return text.rstrip()


def tell_corrections(made: Sequence[Correction], language: Language) -> str:
    """Return the sentence about misspelt words: "I read “tiket” as “ticket”."."""
    begin, end = _OPEN[language], _CLOSE[language]
    words = dict.fromkeys(f"{begin}{item.typed}{end} {_AS[language]} {begin}{item.read}{end}" for item in made)
    return _READ[language].format(words=", ".join(words))


def tell_english(text: str, language: Language) -> str:
    """Return the sentence about a question that was read in English."""
    return _IN_ENGLISH[language].format(text=text)


def in_language(answer: Answer, language: Language) -> Answer:
    """Return an answer without a model with its sentences, but not its quotes, in a language."""
    if language is _EN:
        return answer
    return replace(answer, text="\n\n".join(_paragraph(part, language) for part in answer.text.split("\n\n")))


def _paragraph(text: str, language: Language) -> str:
    if text == QUOTES_NOTE[_EN]:
        return QUOTES_NOTE[language]
    if text.startswith(NOT_FOUND[_EN]):
        lead = text.replace(NOT_FOUND[_EN], NOT_FOUND[language], 1).replace(CLOSEST[_EN], CLOSEST[language], 1)
        return lead.replace(_AND[_EN], _AND[language], 1)
    if text.startswith(PART_NOT_FOUND[_EN]):
        return text.replace(PART_NOT_FOUND[_EN], PART_NOT_FOUND[language], 1).replace(
            "” in the documents.", f"{_CLOSE[language]}."
        )
    return text.replace(SEARCHED[_EN], SEARCHED[language], 1) if text.startswith(SEARCHED[_EN]) else text
