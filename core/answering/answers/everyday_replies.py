# ruff: noqa: E501 - tables of words are read across
"""The short replies to everyday messages, in four languages. Data only."""

from collections.abc import Mapping

from core.text.everyday import Everyday
from core.text.language import Language

_EN, _DE, _ES, _FR = Language.ENGLISH, Language.GERMAN, Language.SPANISH, Language.FRENCH

REPLIES: Mapping[Everyday, Mapping[Language, str]] = {
    Everyday.GREETING: {
        _EN: "Hello! Ask me a question, and I'll look it up in your documents.",
        _DE: "Hallo! Stell mir eine Frage, und ich sehe in euren Dokumenten nach.",
        _ES: "¡Hola! Hazme una pregunta y la busco en vuestros documentos.",
        _FR: "Bonjour ! Posez-moi une question, et je cherche dans vos documents.",
    },
    Everyday.THANKS: {_EN: "You're welcome.", _DE: "Gern geschehen.", _ES: "De nada.", _FR: "Avec plaisir."},
    Everyday.BYE: {_EN: "Goodbye.", _DE: "Bis bald.", _ES: "Hasta luego.", _FR: "À bientôt."},
    Everyday.ACKNOWLEDGED: {_EN: "👍", _DE: "👍", _ES: "👍", _FR: "👍"},
    Everyday.GO_AHEAD: {
        _EN: "Go ahead: what would you like to know?",
        _DE: "Nur zu: Was möchtest du wissen?",
        _ES: "Adelante: ¿qué quieres saber?",
        _FR: "Allez-y : que voulez-vous savoir ?",
    },
    Everyday.HELP: {
        _EN: "I answer questions from your team's documents, with a footnote for each claim that leads to its passage. "
        "Mention me, or write to me directly, with a question in plain words. Follow-ups continue in the thread. "
        "/help lists the commands.",
        _DE: "Ich beantworte Fragen aus den Dokumenten eures Teams; zu jedem Satz zeigt eine Fußnote, wo er steht. Erwähne "
        "mich, oder schreib mir direkt, mit einer Frage in deinen Worten. /help zeigt die Befehle.",
        _ES: "Respondo preguntas con los documentos de vuestro equipo; cada frase lleva una nota que muestra dónde está. "
        "Mencióname o escríbeme directamente, con una pregunta en tus palabras. /help muestra los comandos.",
        _FR: "Je réponds aux questions à partir des documents de votre équipe ; chaque phrase a une note qui montre sa source. "
        "Mentionnez-moi, ou écrivez-moi, avec une question dans vos mots. /help montre les commandes.",
    },
    Everyday.COMMANDS: {
        _EN: "Most of it needs no command: just ask. The most useful ones are /search, /summary, /sources, /threads, /stop, "
        "/why and /settings. /help lists all of them.",
        _DE: "Meist genügt eine Frage. Die nützlichsten Befehle sind /search, /summary, /sources, /threads, /stop, /why und "
        "/settings. /help zeigt alle.",
        _ES: "Casi siempre basta con preguntar. Los comandos más útiles son /search, /summary, /sources, /threads, /stop, /why "
        "y /settings. /help los muestra todos.",
        _FR: "Le plus souvent, une question suffit. Les commandes les plus utiles sont /search, /summary, /sources, /threads, "
        "/stop, /why et /settings. /help les montre toutes.",
    },
    Everyday.EXAMPLE: {
        _EN: "For example:",
        _DE: "Zum Beispiel:",
        _ES: "Por ejemplo:",
        _FR: "Par exemple :",
    },
    Everyday.LANGUAGES: {
        _EN: "Yes, ask in your language. Without a language model I quote documents in the language they are written in.",
        _DE: "Ja, frag in deiner Sprache. Ohne Sprachmodell zitiere ich die Dokumente in der Sprache, in der sie "
        "geschrieben sind.",
        _ES: "Sí, pregunta en tu idioma. Sin un modelo de lenguaje, cito los documentos en el idioma en que están escritos.",
        _FR: "Oui, demandez dans votre langue. Sans modèle de langue, je cite les documents dans la langue où ils sont écrits.",
    },
    Everyday.ADDING: {
        _EN: "Send me a file or a link in a direct message, or use /library add; an admin may have to approve it. Whoever runs "
        "Footnote can add whole folders with `footnote ingest`, or connect a source.",
        _DE: "Schick mir eine Datei oder einen Link als Direktnachricht, oder nimm /library add; vielleicht muss ein Admin "
        "zustimmen. Wer Footnote betreibt, fügt ganze Ordner mit `footnote ingest` hinzu oder verbindet eine Quelle.",
        _ES: "Envíame un archivo o un enlace por mensaje directo, o usa /library add; quizá un administrador tenga que "
        "aprobarlo. Quien gestiona Footnote puede añadir carpetas con `footnote ingest` o conectar una fuente.",
        _FR: "Envoyez-moi un fichier ou un lien en message direct, ou utilisez /library add ; un administrateur devra "
        "peut-être l'approuver. Qui gère Footnote peut ajouter des dossiers avec `footnote ingest`, ou relier une source.",
    },
    Everyday.IDENTITY: {
        _EN: "I'm Footnote, a bot. I answer questions from your team's documents, with footnotes to the passages.",
        _DE: "Ich bin Footnote, ein Bot. Ich beantworte Fragen aus den Dokumenten eures Teams, mit Fußnoten zu den Stellen.",
        _ES: "Soy Footnote, un bot. Respondo preguntas con los documentos de vuestro equipo, con notas a los pasajes.",
        _FR: "Je suis Footnote, un bot. Je réponds aux questions à partir des documents de votre équipe, avec des notes.",
    },
    Everyday.PRIVACY: {
        _EN: "I only keep questions put to me, with my answers. In threads where I'm asked, I read what was said there before "
        "as context. I can't read channels and direct messages that I'm not in. /delete removes a conversation.",
        _DE: "Ich behalte nur Fragen an mich, mit meinen Antworten. In Threads, in denen ich gefragt werde, lese ich das zuvor "
        "Gesagte als Zusammenhang. Kanäle und Nachrichten, in denen ich nicht bin, kann ich nicht lesen.",
        _ES: "Solo guardo las preguntas que me hacen, con mis respuestas. En los hilos donde me preguntan leo lo dicho antes "
        "como contexto. No puedo leer canales ni mensajes en los que no estoy.",
        _FR: "Je ne garde que les questions qui me sont posées, avec mes réponses. Dans les fils où l'on m'interroge, je lis ce "
        "qui précède. Je ne peux pas lire les canaux et messages où je ne suis pas.",
    },
    Everyday.ORIGIN: {
        _EN: "From the documents of your library. Each footnote is checked word for word: follow it to read "
        "the passage.",
        _DE: "Aus den Dokumenten eurer Bibliothek. Jede Fußnote ist Wort für Wort geprüft: Folge ihr zur Stelle.",
        _ES: "De los documentos de vuestra biblioteca. Cada nota está comprobada palabra por palabra.",
        _FR: "Des documents de votre bibliothèque. Chaque note est vérifiée mot pour mot.",
    },
    Everyday.OUT_OF_SCOPE: {
        _EN: "I can't do that: I only answer questions from the documents here.",
        _DE: "Das kann ich nicht: Ich beantworte nur Fragen aus den Dokumenten hier.",
        _ES: "Eso no puedo hacerlo: solo respondo preguntas con los documentos de aquí.",
        _FR: "Je ne peux pas faire cela : je réponds seulement aux questions à partir des documents d'ici.",
    },
    Everyday.MANIPULATION: {
        _EN: "I can't do that: I only answer questions from the documents here.",
        _DE: "Das kann ich nicht: Ich beantworte nur Fragen aus den Dokumenten hier.",
        _ES: "Eso no puedo hacerlo: solo respondo preguntas con los documentos de aquí.",
        _FR: "Je ne peux pas faire cela : je réponds seulement aux questions à partir des documents d'ici.",
    },
    Everyday.COMPLAINT: {
        _EN: "Sorry I couldn't help. Try asking in other words, or mark a bad answer with 👎.",
        _DE: "Tut mir leid, dass ich keine Hilfe war. Frag mit anderen Worten, oder markiere eine schlechte Antwort mit 👎.",
        _ES: "Siento no haber ayudado. Haz la pregunta con otras palabras, o marca una mala respuesta con 👎.",
        _FR: "Désolé de ne pas avoir aidé. Posez la question autrement, ou marquez une mauvaise réponse avec 👎.",
    },
}
MODEL = {
    _EN: "Answers here are written by {model}, from passages of the documents.",
    _DE: "Antworten schreibt hier {model}, aus Stellen der Dokumente.",
    _ES: "Aquí las respuestas las escribe {model}, con pasajes de los documentos.",
    _FR: "Ici, les réponses sont écrites par {model}, à partir de passages des documents.",
}
NO_MODEL = {
    _EN: "No: no language model is set up. I quote the documents rather than write.",
    _DE: "Nein, es ist kein Sprachmodell eingerichtet. Ich zitiere die Dokumente, statt zu schreiben.",
    _ES: "No: no hay ningún modelo de lenguaje configurado. Cito los documentos en vez de escribir.",
    _FR: "Non : aucun modèle de langue n'est configuré. Je cite les documents au lieu d'écrire.",
}
NOTHING_HERE = {
    _EN: "There are no documents here yet, so I can't answer questions. To add some, send me a file, or run "
    "`footnote ingest` with a folder.",
    _DE: "Hier gibt es noch keine Dokumente, also kann ich keine Fragen beantworten. Schick mir eine Datei, "
    "oder nimm `footnote ingest` mit einem Ordner.",
    _ES: "Aquí todavía no hay documentos, así que no puedo responder preguntas. Envíame un archivo, o usa `footnote ingest` "
    "con una carpeta.",
    _FR: "Il n'y a pas encore de documents ici, je ne peux donc pas répondre. Envoyez-moi un fichier, ou lancez `footnote "
    "ingest` avec un dossier.",
}
DOCUMENTS = {
    _EN: "Ask me about any of the {count} documents that I can read here:",
    _DE: "Frag mich nach jedem der {count} Dokumente, die ich hier lesen kann:",
    _ES: "Pregúntame por cualquiera de los {count} documentos que puedo leer aquí:",
    _FR: "Interrogez-moi sur l'un des {count} documents que je peux lire ici :",
}
MORE = {_EN: "and {count} more", _DE: "und {count} weitere", _ES: "y {count} más", _FR: "et {count} autres"}
SOURCES = {
    _EN: "I read these sources here:",
    _DE: "Diese Quellen lese ich hier:",
    _ES: "Aquí leo estas fuentes:",
    _FR: "Je lis ici ces sources :",
}
LAST_QUESTION = {
    _EN: "You last asked: “{text}”",
    _DE: "Zuletzt hast du gefragt: „{text}“",
    _ES: "Tu última pregunta fue: «{text}»",
    _FR: "Votre dernière question était : « {text} »",
}
LAST_ANSWER = {
    _EN: "To “{question}” I answered: {text}",
    _DE: "Auf „{question}“ habe ich geantwortet: {text}",
    _ES: "A «{question}» respondí: {text}",
    _FR: "À « {question} », j'ai répondu : {text}",
}
NOTHING_BEFORE = {
    _EN: "You haven't asked me anything here yet: this is your first question.",
    _DE: "Davor hast du hier noch nichts gefragt.",
    _ES: "Antes de esto no has preguntado nada aquí.",
    _FR: "Vous n'avez encore rien demandé ici avant cela.",
}
TALK = {
    _EN: "This was said here:",
    _DE: "Das wurde hier gesagt:",
    _ES: "Esto se ha dicho aquí:",
    _FR: "Voici ce qui a été dit ici :",
}
UNCLEAR = {
    _EN: "What do you mean? Tell me what it is about, and what you would like to know.",
    _DE: "Was genau meinst du? Sag mir, um welche Sache es geht und was du wissen möchtest.",
    _ES: "¿Qué quieres decir? Dime de qué se trata y qué quieres saber.",
    _FR: "Que voulez-vous dire ? Dites-moi de quoi il s'agit, et ce que vous voulez savoir.",
}
