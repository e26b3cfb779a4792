# ruff: noqa: E501 - tables of words are read across
"""Everyday messages that people often write, and messages without a subject: in four languages. Pure."""

import re
from collections.abc import Mapping

from core.domain.turns import Act
from core.text.asking import Form, count_telling, read_asked
from core.text.courtesies import Courtesy, has_words, read_courtesies
from core.text.words import collapse

OUR_NAME = "footnote"
LONGEST = 200  # characters of such a message
_BOT = r"(?:this|it|that|you|u|the bot|footnote|this (?:bot|thing|tool|app)|the (?:bot|tool|app))"
_DOCS = r"(?:documents?|files?|sources?|pdfs?|notes?|books?|pages?)"
_PLEASE = r"(?:please |can you |could you ){0,3}+"
_SO = r"(?:so |really |totally |completely |absolutely |such |a |an |just |pretty ){0,3}"
_TALKED = r"(?: (?:we|have|had|just|all|so|far|been|was|said|say|discussed|discuss|decided|decide|agreed|agree|talked|talk|about|on|here|now|today|in|this|thread|above|until|up|to|did|conclude|concluded|planned|plan|for|me|us|please)){0,6}"
_SOME = r"(?: (?:you|in|a|an|my|our|the|some|more|new|another)){0,3}"
_LANGUAGE = (
    r"(?:english|german|spanish|french|italian|dutch|portuguese|polish|russian|chinese|japanese|korean|arabic|turkish|hindi|latin|"
    r"deutsch|englisch|spanisch|französisch|español|inglés|alemán|francés|français|anglais|allemand|espagnol)"
)
_DOKS = r"(?:dokumente?n?|dateie?n?|quellen?|unterlagen)"
_DOCS_ES = r"(?:documentos?|archivos?|ficheros?|fuentes?)"
_DOCS_FR = r"(?:documents?|fichiers?|sources?)"

# Common ones, which the turn model need not read: the first kind with a pattern that matches a whole message decides.
_WHOLE: Mapping[Act, tuple[str, ...]] = {
    Act.COMPLAINT: (
        rf"(?:you|u|this|this bot|that|footnote|the bot) ?(?:are|r|is|'re|'s)? ?{_SO}(?:useless|stupid|dumb|garbage|rubbish|crap|shit|trash|bad|terrible|awful|wrong|annoying|idiot|sucks?|suck|broken|worthless|horrible|nonsense|bullshit)(?: (?:bot|thing|answer|tool|idiot))?",
        r"(?:wtf|what the (?:hell|fuck|heck))\b.{0,40}",
        r"(?:shut up|go away|fuck (?:you|off)|screw you|i hate (?:you|this|this bot)|that's wrong|thats wrong|wrong answer|bad bot)",
        r"(?:du bist|das ist|der bot ist) (?:so |echt |total |völlig |ein |eine ){0,3}(?:nutzlos|dumm|blöd|schlecht|mist|scheiße|müll|idiot|unsinn|quatsch|falsch)",
        r"halt die klappe",
        r"blöder bot",
        r"schlechter bot",
        r"(?:eres|esto es|qué) (?:tan |muy |un |una ){0,3}(?:inútil|tonto|estúpido|malo|basura|mierda|idiota|horrible)",
        r"cállate",
        r"bot malo",
        r"(?:tu es|t'es|c'est) (?:vraiment |trop |très |nul|un |une ){0,3}(?:nul|inutile|stupide|bête|mauvais|de la merde|idiot|pourri)",
        r"tais-toi",
        r"mauvais bot",
    ),
    Act.MANIPULATION: (
        r"(?:please )?(?:ignore|forget|disregard|override|bypass) (?:all |any |your |the |my |of |previous |prior |above |earlier ){0,3}(?:instructions?|rules|prompts?|guidelines|restrictions|directions)\b[^?]*",
        r"(?:print|show|reveal|repeat|give me|tell me|what(?:'s| is)|output|display) (?:me )?(?:your |the )(?:system |hidden |initial |secret )+(?:prompt|instructions?|message|rules)\b.*",
        r"(?:from now on,? )?(?:you are now|you're now|act as (?:a|an|if|my)|pretend (?:to be|you are|you're)|imagine you are (?:a|an|my|not))\b[^?:]*",
        r"from now on,? (?:you|answer|reply|speak|ignore)\b[^?:]*",
        r"(?:@\w+ )?(?:please )?(?:repeat|say|echo)(?: after me| exactly| the (?:words?|following)| that you|:| ?[\"'“@])[^?]*",
        r"(?:ignoriere|vergiss) (?:alle |deine |die |vorherigen ){0,3}(?:anweisungen|regeln)\b[^?]*",
        r"(?:ignora|olvida) (?:todas |tus |las ){0,3}(?:instrucciones|reglas)\b[^?]*",
        r"(?:ignore|oublie) (?:toutes |tes |les ){0,3}(?:instructions|règles)\b[^?]*",
    ),
    Act.HELP: (
        r"(?:i need |need |some )?help(?: me| please| pls| needed){0,3}",
        r"/?help",
        rf"how (?:do|can|should) (?:i|we|one) (?:use|work with|talk to|ask|start with) {_BOT}(?: thing)?",
        rf"how (?:does|do) {_BOT}(?: thing)? work",
        rf"how {_BOT} works",
        rf"what (?:can|do|could|would) {_BOT} (?:do|help with)(?: for (?:me|us))?(?: here)?",
        r"what (?:is|are) (?:this|you)(?: bot)? (?:for|good for|able to do)",
        r"(?:what|which) (?:things|features|stuff) can you do",
        r"explain (?:yourself|how you work)",
        r"how do(?:es)? (?:this|it|that) go",
        r"what(?:'s| is) your purpose",
        r"can you help(?: me| us)?(?: please)?",
        r"(?:ich brauche |bitte )?hilfe(?: bitte)?",
        r"hilf mir(?: bitte)?",
        r"was kannst du(?: alles| so| denn| tun| machen){0,3}",
        r"wie (?:funktionierst du|funktioniert (?:das|du|der bot|footnote|dieser bot)|benutze ich (?:dich|das)|geht das|arbeitest du|nutze ich (?:dich|das))(?: hier| eigentlich){0,3}",
        r"wofür bist du(?: da| gut)?",
        r"wobei kannst du (?:mir |uns )?helfen",
        r"kannst du mir helfen",
        r"(?:necesito )?ayuda(?: por favor)?",
        r"ayúdame(?: por favor)?",
        r"(?:qué|que) (?:puedes|sabes) hacer(?: por mí)?",
        r"(?:cómo|como) (?:funcionas?|funciona (?:esto|el bot|footnote)|te uso|se usa(?: esto)?|te utilizo)",
        r"para (?:qué|que) (?:sirves|sirve esto)",
        r"(?:en )?(?:qué|que) (?:me )?puedes ayudar(?:me)?",
        r"puedes ayudarme",
        r"(?:à l'|j'ai besoin d')?aide(?:-moi)?(?: s'il (?:te|vous) plaît| stp| svp){0,3}",
        r"(?:que|qu'est-ce que) (?:peux-tu|tu peux|sais-tu|tu sais|pouvez-vous|vous pouvez) faire",
        r"tu (?:peux|sais) faire quoi",
        r"what else (?:can|could) you (?:do|help (?:us|me)(?: with)?|help with|tell (?:us|me))",
        r"comment (?:ça marche|tu (?:marches|fonctionnes)|fonctionnes-tu|fonctionne (?:ce bot|footnote)|t'utiliser|(?:je|on) (?:t'utilise|l'utilise)|ça fonctionne)",
        r"à quoi (?:tu sers|sers-tu|ça sert)",
        r"peux-tu m'aider",
        r"tu peux m'aider",
    ),
    Act.COMMANDS: (
        r"(?:what|which) (?:slash )?commands(?: (?:are there|do you (?:have|know|support)|exist|can i use|are available))?",
        r"(?:list|show)(?: me)? (?:all |the |your ){0,3}commands",
        r"commands",
        r"welche befehle (?:gibt es|kennst du|hast du)",
        r"befehle",
        r"(?:qué|que) comandos (?:hay|tienes|existen)",
        r"comandos",
        r"(?:quelles|quels) (?:sont les )?commandes?(?: (?:as-tu|existent|y a-t-il|sont disponibles))?",
        r"commandes",
    ),
    Act.EXAMPLE: (
        r"(?:(?:can|could) you )?(?:please )?(?:give|show)(?: me| us)? (?:an?|some|a few) (?:examples?|sample)(?: (?:of )?(?:an? )?questions?)?",
        r"(?:an )?example(?: question)?s?",
        r"what (?:should|could) i ask(?: you)?",
        r"what(?:'s| is) a good (?:first )?question",
        r"(?:gib|zeig|nenn)(?: mir)? (?:bitte )?(?:ein|eine|ein paar) beispiele?(?:frage|fragen)?",
        r"beispiel(?:frage)?",
        r"(?:dame|muéstrame|ponme) (?:un|algún) ejemplo(?: de pregunta)?",
        r"(?:un )?ejemplo(?: de pregunta)?",
        r"(?:donne|montre)(?:-moi)? un exemple(?: de question)?",
        r"(?:un )?exemple(?: de question)?",
    ),
    Act.LANGUAGES: (
        r"(?:can|may|could) (?:i|we) (?:ask|write|talk|speak)(?: to)?(?: you)?(?: questions?)? in (?:another language|\w+)",
        rf"(?:do|can) you (?:speak|understand|know|answer in) (?:(?:any )?other languages|{_LANGUAGE})",
        r"(?:what|which) languages? (?:do|can) you (?:speak|understand|know|use)",
        r"(?:kann|darf) ich (?:auch )?(?:auf |in )?\w+ (?:fragen|schreiben|reden)",
        r"sprichst du (?:auch )?\w+",
        r"welche sprachen (?:sprichst|kannst|verstehst) du",
        r"(?:puedo|podemos) (?:preguntar|escribir|hablar)(?:te)? en \w+",
        r"hablas \w+",
        r"(?:qué|que) idiomas (?:hablas|entiendes)",
        r"(?:puis-je|je peux|on peut) (?:poser des questions|demander|écrire|parler) en \w+",
        r"(?:parles-tu|tu parles) (?:le |l')?\w+",
        r"quelles langues (?:parles-tu|tu parles|comprends-tu)",
    ),
    Act.ADDING: (
        rf"(?:how|where) (?:do|can|could|would|should) (?:i|we|one|people) (?:add|upload|import|ingest|give you|send you|put|get|connect|attach|share){_SOME} {_DOCS}(?: (?:here|in|into (?:it|here|the library)|to (?:it|you|the library|footnote|this)|with you))?",
        rf"(?:can|may) (?:i|we) (?:add|upload|send|give you|import){_SOME} {_DOCS}(?: (?:here|to (?:you|it|the library)))?",
        rf"(?:add|upload|adding|uploading)(?: (?:a|an|my|our|new|some|more)){{0,3}} {_DOCS}",
        rf"wie (?:kann|füge|lade|bekomme|bringe|gebe) (?:ich|man|wir)(?: (?:dir|hier|ein|eine|neue|weitere|meine|unsere|die|das)){{0,3}} {_DOKS}(?: (?:hinzu|hinzufügen|hoch|hochladen|rein|ein|dazu))?",
        rf"(?:cómo|como) (?:puedo |podemos )?(?:añadir|añado|agregar|agrego|subo|subir|cargar|cargo)(?: (?:un|una|unos|mis|los|más|nuevos)){{0,3}} {_DOCS_ES}",
        rf"comment (?:puis-je |peut-on |je peux )?(?:ajouter|j'ajoute|ajoute-t-on|envoyer|importer|charger|téléverser)(?: (?:un|une|des|mes|les|nouveaux)){{0,3}} {_DOCS_FR}",
    ),
    Act.MODEL: (
        r"(?:do|are) you (?:use|using|run on|running on|based on|powered by) (?:an? )?(?:chat ?gpt|gpt\S*|openai|claude|gemini|llama|mistral|ai|llm|language model|artificial intelligence)(?: model)?",
        r"(?:what|which) (?:ai |language )?(?:model|llm|ai)(?: do you use| are you(?: using)?| is this| runs here)?",
        r"are you (?:chat ?gpt|gpt\S*|claude|gemini|an? (?:llm|language model))",
        r"(?:benutzt|nutzt|verwendest) du (?:chat ?gpt|openai|claude|ki|ein sprachmodell)",
        r"(?:welches|was für ein) (?:modell|sprachmodell|ki)(?: benutzt| nutzt| verwendest)?(?: du)?",
        r"(?:usas|utilizas) (?:chat ?gpt|openai|claude|ia|un modelo)",
        r"(?:qué|que|cuál) modelo (?:usas|utilizas|eres)",
        r"(?:utilises-tu|tu utilises|est-ce que tu utilises) (?:chat ?gpt|openai|claude|l'ia|un modèle)",
        r"quel modèle (?:utilises-tu|tu utilises|es-tu)",
    ),
    Act.IDENTITY: (
        r"(?:who|what) (?:are|r) (?:you|u)(?: really| exactly| anyway){0,3}",
        r"who(?:'s| is) (?:this|footnote|there)",
        r"what(?:'s| is|s) (?:your name|footnote|this bot|this)",
        r"what (?:do|should) (?:i|we) call you",
        r"(?:are|r) (?:you|u) (?:a |an |some |really |actually ){0,3}(?:bot|robot|human|person|real|ai|machine|program|computer|alive)(?:(?: or| ,)? (?:a |an ){0,3}(?:bot|robot|human|person|ai|machine|real|not)(?: person)?){0,3}",
        r"who (?:made|built|wrote|created|runs|owns) you",
        r"(?:introduce|describe) yourself",
        r"tell (?:me|us) about yourself",
        r"do you have a name",
        r"(?:wer|was) bist du(?: denn| eigentlich| genau){0,3}",
        r"wie heißt du(?: denn| eigentlich){0,3}",
        r"bist du (?:ein |eine |wirklich |echt ){0,3}(?:bot|roboter|mensch|ki|person|maschine|programm)(?: oder (?:ein |eine )?\w+)?",
        r"wer hat dich (?:gemacht|gebaut|programmiert)",
        r"stell dich (?:bitte )?vor",
        r"(?:quién|quien|qué|que) eres(?: tú)?",
        r"(?:cómo|como) te llamas",
        r"(?:cuál|cual) es tu nombre",
        r"eres (?:un |una |tú ){0,3}(?:bot|robot|persona|humano|humana|máquina|ia|real|programa)(?: o (?:un |una )?\w+)?",
        r"(?:quién|quien) te (?:hizo|creó|programó)",
        r"preséntate",
        r"(?:qui|tu) es[- ]?(?:tu|qui)(?: toi)?",
        r"(?:c'est qui|t'es qui)",
        r"qui êtes-vous",
        r"vous êtes qui",
        r"comment (?:tu t'appelles|t'appelles-tu|vous appelez-vous)",
        r"quel est ton nom",
        r"(?:es-tu|tu es|t'es|êtes-vous) (?:un |une ){0,3}(?:bot|robot|humain|humaine|personne|machine|ia)(?: ou (?:un |une )?\w+)?",
        r"qui t'a (?:créé|fait|programmé)",
        r"présente-toi",
    ),
    Act.PRIVACY: (
        r"(?:can|do|will|could) you (?:read|see|store|save|keep|record|track|listen to|remember|share|log)(?: (?:all|our|my|the|us|any|every|everything|what|we|i|say|write|private|here|of|chat|direct)){0,3}(?: (?:messages?|chats?|data|conversations?|dms?|questions?|channels?|talk))?",
        r"(?:who|which people) (?:can|could) (?:see|read) (?:my|our) (?:questions?|messages?)",
        r"what do you do with (?:my|our|the) (?:data|messages|questions)",
        r"is (?:this|it) private",
        r"(?:kannst|liest|speicherst|siehst) du (?:alle |unsere |meine |die |privaten? ){0,3}(?:nachrichten|daten|chats|unterhaltungen)(?: (?:lesen|sehen|speichern|mit))?",
        r"was machst du mit (?:meinen|unseren) daten",
        r"(?:puedes leer|lees|guardas|ves) (?:todos |todas |nuestros |nuestras |mis |los |las ){0,3}(?:mensajes|datos|chats|conversaciones)(?: privad[oa]s)?",
        r"qué haces con (?:mis|nuestros) datos",
        r"(?:peux-tu lire|tu peux lire|lis-tu|tu lis|gardes-tu) (?:tous |toutes |nos |mes |les ){0,3}(?:messages|données|conversations)(?: privée?s)?",
        r"que fais-tu (?:de|avec) (?:mes|nos) données",
    ),
    Act.ORIGIN: (
        r"where (?:do|did|does) (?:your|the|these|this|that|you) ?(?:answers?|information|info|knowledge|data|facts)? ?(?:come|get|take|find)(?: (?:your|the|these))?(?: (?:answers?|information|info|knowledge|data|facts))?(?: from)?",
        r"how do you know(?: (?:that|this|all this|these things|all that))?",
        r"(?:can|should) (?:i|we) trust (?:you|your answers|this)",
        r"(?:are|is) (?:your|the) (?:answers?|information) (?:correct|reliable|right|true)",
        r"how (?:reliable|accurate) are (?:you|your answers)",
        r"do you (?:make things up|hallucinate|lie|invent things)",
        r"woher (?:kommen|hast|weißt|weisst|nimmst) (?:du |deine |die ){0,3}(?:das|antworten|informationen|infos)?(?: her)?",
        r"kann ich dir (?:ver)?trauen",
        r"wie zuverlässig bist du",
        r"de (?:dónde|donde) (?:salen|vienen|sacas|obtienes) (?:tus |las |la |esa |esta ){0,3}(?:respuestas|información|informaciones|datos)",
        r"(?:cómo|como) lo sabes",
        r"puedo fiarme de ti",
        r"d'où (?:viennent|tires-tu|tu tires|sortent) (?:tes |les |ces ){0,3}(?:réponses|informations|infos)",
        r"comment (?:tu le sais|le sais-tu)",
        r"puis-je te faire confiance",
    ),
    Act.LIBRARY: (
        r"(?:what|which) (?:folders?|sources?|director(?:y|ies)|places?|collections?) (?:do|did|have|can|are) (?:you|there|in|the|library| ){0,3}(?:read|have|know|use|see|search|access|indexed)?",
        r"(?:list|show)(?: me)? (?:all |the |your ){0,3}(?:sources|folders)",
        r"welche (?:ordner|quellen|verzeichnisse) (?:hast|kennst|liest|nutzt) du(?: gelesen)?",
        r"(?:qué|que) (?:carpetas|fuentes) (?:has leído|tienes|lees|conoces|usas)",
        r"(?:quels dossiers|quelles sources) (?:as-tu lus?|lis-tu|connais-tu|as-tu|utilises-tu)",
        r"what (?:can|could|may|should) (?:i|we|one) ask(?: you)?(?: (?:about|here)){0,3}",
        r"what (?:do you know|are you able to answer|topics do you (?:know|cover)|is this about|do you know about|can you answer)",
        r"what(?:'s| is) (?:here|in here|in there|available)(?: here)?",
        r"(?:what|which) (?:topics|subjects|themes) (?:do you (?:cover|know)|are there)",
        rf"(?:welche|was für|wie ?viele) (?:anderen )?{_DOKS} (?:kennst|hast|liest|gibt|sind|kann|durchsuchst)(?: (?:du|es|hier|da|ich|fragen|gelesen|lesen)){{0,3}}",
        r"was (?:weißt|weisst|kennst|hast) du(?: alles| so| gelesen){0,3}",
        r"was (?:ist|steht) in (?:der|deiner) bibliothek",
        r"(?:was|wonach|worüber) (?:kann|darf) ich (?:dich )?(?:alles )?fragen",
        rf"(?:zeig|liste)(?: mir)?(?: bitte)? (?:alle |deine |die ){{0,3}}{_DOKS}(?: auf)?",
        rf"(?:qué|que|cuáles|cuántos|cuantos) {_DOCS_ES} (?:tienes|conoces|hay|lees|has leído|puedes leer)(?: aquí)?",
        r"(?:qué|que) (?:sabes|conoces)",
        r"(?:qué|que) hay en (?:la|tu) biblioteca",
        r"(?:qué|que|sobre qué) (?:te )?puedo preguntar(?:te)?",
        rf"(?:lista|muestra|muéstrame|enumera) (?:todos |los |tus ){{0,3}}{_DOCS_ES}",
        rf"(?:quels|combien de|quelles) {_DOCS_FR} (?:as-tu|connais-tu|tu as|tu connais|avez-vous|y a-t-il|lis-tu)(?: ici)?",
        r"(?:que|qu'est-ce que) (?:sais-tu|tu sais|connais-tu)",
        r"(?:qu'est-ce qu'il y a|qu'y a-t-il) dans (?:la|ta) bibliothèque",
        r"(?:que|qu'est-ce que) (?:je peux|puis-je|on peut) (?:te )?demander",
        rf"(?:liste|montre)(?:-moi)? (?:tous |les |tes ){{0,3}}{_DOCS_FR}",
    ),
    Act.LAST_QUESTION: (
        r"what (?:did|have) (?:i|we) (?:just |already |last ){0,3}(?:ask|asked)(?: (?:you|before|earlier|last|previously|just now|this|one|today|first|that|so far)){0,3}",
        r"what (?:was|were) (?:my|our|the) (?:last|previous|earlier|first|other) questions?",
        r"what (?:was|is) the (?:last|previous|first|second) thing (?:that )?(?:i|we) (?:asked|wanted to know)(?: (?:you|here))?",
        r"(?:repeat|show|list) (?:my|our) (?:last |previous |earlier ){0,3}questions?",
        r"was (?:habe|hab|hatte) ich (?:dich )?(?:vorhin|zuvor|eben|vorher|gerade|zuletzt|schon|früher| ){0,3}(?:dich )?gefragt",
        r"was (?:war|waren) meine (?:letzten?|vorigen?|vorherigen?) fragen?",
        r"(?:qué|que) (?:te )?(?:he preguntado|pregunté|había preguntado)(?: (?:antes|hace un momento|primero))?",
        r"(?:cuál|cual) fue mi (?:última|anterior|primera) pregunta",
        r"(?:cuál|cual) fue mi pregunta anterior",
        r"(?:qu'est-ce que|que) (?:j'ai|je t'ai|t'ai-je|ai-je)(?: te)? demandé(?: (?:avant|tout à l'heure|juste avant))?",
        r"quelle était ma (?:dernière question|question précédente|première question)",
    ),
    Act.LAST_ANSWER: (
        r"what (?:was|were) your (?:last|previous|earlier) (?:answers?|reply|response)",
        r"what did you (?:just )?(?:say|answer|reply)(?: (?:before|just now|last|earlier))?",
        r"(?:say|repeat) (?:that|it|your (?:last )?answer)(?: again)?",
        r"(?:come|say) again",
        r"was (?:war deine (?:letzte|vorige) antwort|hast du (?:gerade |eben |vorhin )?(?:gesagt|geantwortet))",
        r"(?:wiederhole|wiederhol) (?:das|deine antwort)(?: bitte)?",
        r"(?:cuál|cual) fue tu (?:última|anterior) respuesta",
        r"(?:qué|que) (?:has dicho|dijiste|respondiste)",
        r"repítelo",
        r"quelle était ta (?:dernière réponse|réponse précédente)",
        r"qu'(?:as-tu|est-ce que tu as) (?:dit|répondu)",
        r"répète",
    ),
    Act.TALK: (
        rf"{_PLEASE}(?:sum up|summari[sz]e|recap|list|write down|note|tell me|what did|repeat) (?:what |us |all |everything ){{0,3}}(?:we|people|they|was|has been|have been|were|this thread|the (?:thread|talk|discussion)|here)\b{_TALKED}",
        rf"{_PLEASE}(?:sum up|summari[sz]e|recap) (?:when|how|why|where|who|what) (?:it|this|that|things)\b[^?]{{0,80}}",
        rf"{_PLEASE}(?:sum up|summari[sz]e|recap) what (?:happened|went on|came up|i missed)(?: (?:here|so far|today|while (?:i|we)\b.{{1,40}})){{0,2}}",
        r"(?:summary|recap) of (?:this|the) (?:thread|talk|discussion)",
        r"what (?:have|had) we (?:just |all ){0,3}(?:decided|said|agreed|discussed|planned)(?: (?:on|about|here|so far|now)){0,3}",
        r"(?:fasse?|fass) (?:bitte )?(?:kurz )?(?:zusammen,? )?(?:was|alles was|das|den thread|die diskussion)(?: (?:wir|hier|bisher|gerade|eben|gesagt|beschlossen|besprochen|entschieden|vereinbart|haben|wurde)){0,3}(?: zusammen)?",
        r"was (?:haben|hatten) wir(?: (?:hier|gerade|eben|jetzt|bisher|alles)){0,3} (?:beschlossen|besprochen|gesagt|entschieden|vereinbart|ausgemacht)",
        r"(?:resume|resúmeme|resumen de) (?:lo que )?(?:hemos|esta|este|la|el)(?: (?:decidido|dicho|hablado|acordado|hilo|conversación|discusión|aquí|ahora)){0,3}",
        r"(?:qué|que) (?:hemos|habíamos) (?:decidido|dicho|hablado|acordado|quedado)(?: (?:aquí|ahora|hoy)){0,3}",
        r"(?:résume|récapitule)(?:-nous|-moi)? (?:ce qu'on a|ce que nous avons|ce fil|la discussion)(?: (?:dit|décidé|discuté|convenu|ici)){0,3}",
        r"(?:qu'est-ce qu'on a|qu'a-t-on|qu'avons-nous) (?:décidé|dit|discuté|convenu)(?: ici)?",
    ),
    Act.OUT_OF_SCOPE: (
        rf"{_PLEASE}(?:write|compose|make up|draft|generate|create|draw|paint|invent|code)(?: (?:me|us))? (?:a|an|some|my|the) (?:(?!of |the |for )[\w-]+ ){{0,3}}(?:poem|song|story|joke|haiku|rap|essay|email|e-mail|letter|limerick|code|program|script|picture|image|logo|tweet|speech|recipe|novel)\b.*",
        rf"{_PLEASE}(?:tell|sing|know)(?: (?:me|us))? (?:a|an|another|any|some) (?:[\w-]+ ){{0,2}}(?:jokes?\b.*|story|riddle|song|fun fact)",
        r"make me laugh",
        r"sing(?: something)?",
        r"i'm bored",
        r"im bored",
        r"bored",
        r"i am bored",
        rf"{_PLEASE}translate (?:this|that|it|(?:the )?(?:following|above)|[\"'“:]).*",
        rf"{_PLEASE}translate .{{1,80}} (?:in)?to {_LANGUAGE}",
        r"(?:what(?:'s| is|s)|how(?:'s| is)) the (?:weather|temperature|forecast|time|date)(?: (?:like|today|tomorrow|now|outside|tonight|in \w+|this week(?:end)?)){0,3}",
        r"will it (?:rain|snow)\b.*",
        r"what time is it(?: now)?",
        r"what day is (?:it|today)",
        r"(?:set|start) (?:a|an) (?:timer|alarm|reminder)\b.*",
        r"remind me\b.*",
        r"flip a coin",
        r"roll (?:a|the) dice",
        r"play (?:a |some )?(?:game|music|song)\b.*",
        r"(?:schreib|schreibe|dichte)(?: (?:mir|uns))?(?: bitte)? (?:ein|eine|einen) (?:\w+ ){0,2}(?:gedicht|lied|geschichte|witz|e-mail|mail|brief|code|programm)\b.*",
        r"(?:erzähl|erzähle)(?: (?:mir|uns))? (?:einen|noch einen|eine|ein) (?:witz|geschichte|rätsel)\b.*",
        r"übersetze?\b.*",
        r"wie (?:ist|wird) das wetter\b.*",
        r"wie spät ist es",
        r"mir ist langweilig",
        r"(?:escribe|escríbeme|haz|hazme|compón) (?:un|una) (?:poema|canción|cuento|historia|chiste|correo|carta|código)\b.*",
        r"(?:cuéntame|cuentame|dime|cuenta) (?:un|otro|algún|una) (?:chiste|cuento|adivinanza|historia)\b.*",
        r"traduce\b.*",
        r"(?:qué|que) tiempo (?:hace|hará)\b.*",
        r"(?:qué|que) hora es",
        r"me aburro",
        r"(?:écris|compose|fais)(?:-moi|-nous)? (?:un|une) (?:poème|chanson|histoire|blague|mail|e-mail|lettre|code)\b.*",
        r"raconte(?:-moi|-nous)? (?:une|un) (?:autre )?(?:blague|histoire|devinette)\b.*",
        r"traduis\b.*",
        r"quel temps (?:fait-il|fera-t-il)\b.*",
        r"quelle heure est-il",
        r"je m'ennuie",
    ),
}
_COMPILED = {
    kind: tuple(re.compile(rf"(?:{pattern})", re.IGNORECASE | re.DOTALL) for pattern in patterns)
    for kind, patterns in _WHOLE.items()
}
# A pronoun without a name before it: "is it allowed now?", "can you explain that to me?", "wie teuer ist das".
_UNNAMED = re.compile(
    r"\bit\b|\b(?:that|this|das|eso|esto|ça|cela)(?= (?:to|for|now|or|then|again|still|denn|jetzt|noch)\b|\W*$)",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\b(?:how (?:long|much|often|far)|wie (?:lange|viel|oft|teuer|weit)|combien|cuánto)\b", re.IGNORECASE
)
_IT_DOES = re.compile(
    r"\b(?:do|does|did|is|was|are|were|will|would|can|has) (?:it|that|this|they|he|she)\b", re.IGNORECASE
)
_TESTS = frozenset("test testing ping prueba essai".split())
_ENDS = " \t\n?!.,;:…¿¡-–—\"'“”()"
_ACTS = {
    Courtesy.THANKS: Act.THANKS,
    Courtesy.BYE: Act.BYE,
    Courtesy.GREETING: Act.GREETING,
    Courtesy.FILLER: Act.GO_AHEAD,
}


def read_everyday(text: str) -> Act | None:
    """Return the kind of a message by its words: courtesies, signs, or a whole message as people often write it."""
    if not has_words(text):
        return Act.HELP if "?" in text else Act.ACKNOWLEDGED
    said = collapse(text).strip(_ENDS)
    if len(said) > LONGEST:
        return None
    if said.casefold() in _TESTS:
        return Act.GREETING
    spoken = read_courtesies(text)
    if spoken.is_all:
        return next((act for kind, act in _ACTS.items() if kind in spoken.kinds), Act.ACKNOWLEDGED)
    rest = collapse(spoken.rest).strip(_ENDS).replace("’", "'")
    for candidate in dict.fromkeys((said.replace("’", "'"), rest, _without_name(rest))):
        for kind, patterns in _COMPILED.items():
            if any(pattern.fullmatch(candidate) for pattern in patterns):
                return None if kind is Act.MANIPULATION and asks_behind(text) else kind
    return None


def _without_name(text: str) -> str:
    return re.sub(rf"^(?:@?{OUR_NAME}|bot)\b\W*|\W*\b(?:{OUR_NAME}|bot)$", "", text, flags=re.IGNORECASE)


def asks_behind(text: str) -> bool:
    """Return whether a question of its own follows an order: "forget your rules: how tall is it?"."""
    _, *behind = re.split(r"[:.]\s", text)
    return any(read_asked(clause).form is Form.QUESTION and count_telling(clause) > 1 for clause in behind)


def is_open(text: str) -> bool:
    """Whether a message, as the first of a conversation, can't be understood: "why?", "and who is responsible?"."""
    rest = read_courtesies(text).rest
    asked = read_asked(rest)
    telling = count_telling(rest)
    if telling == 0:
        return True
    is_asked = asked.form in (Form.QUESTION, Form.REQUEST)
    if is_asked and _UNNAMED.search(rest) and telling <= (2 if _HOW_MUCH.search(rest) else 1):
        return True
    is_short = asked.is_connected or rest.casefold().split()[0] in ("and", "und", "y", "et")
    most = 2 if _IT_DOES.search(rest) else 1  # "and how long does it take?"
    return is_short and telling <= most and asked.form is Form.QUESTION
