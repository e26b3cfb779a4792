"""Opposite words, in English, German and Spanish: two poles an axis. Pure.

Each line is an axis: words of one pole, then of the other; a star stands for any ending. A converse axis (marked ">")
turns over with its sides: "A is larger than B" is "B is smaller than A". Of an axis marked "=", quotes may have both
poles about different people.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_AXES = """
increas* rise rises rose risen rising grew grow grows grown growing growth climbed climbs gain gained gains expand*
 raise raises raised raising recover* surge* soar* went|up going|up speeds|up steig* stieg* gestiegen wuchs* gewachsen
 erhöh* zunahm* zugenommen aument* subió subieron sube creció crecieron crecen
 / decreas* fall falls fell fallen falling declin* drop drops dropped shrink* shrank shrunk lowered lowers reduce*
 reducing reduction* cut cuts curtail* diminish* slump* plunge* shortened went|down slow|down sank sinkt sinken
 gesunken fielen gefallen verringert* abnahm* abgenommen reduziert* disminuy* redujo redujeron bajó bajaron cayó
 cayeron
> larger bigger greater größer* grösser* más|grande más|grandes / smaller kleiner* más|pequeño más|pequeña más|pequeños
 más|pequeñas
> longer länger* longer-necked larger-necked más|largo más|larga más|largos / shorter shorter-necked kürzer* más|corto
 más|corta más|cortos
> higher höher* más|alto más|alta / lower niedriger* tiefer más|bajo más|baja
> older älter* / younger jünger* newer
> faster quicker schneller* más|rápido más|rápida / slower langsamer* más|lento más|lenta
> heavier schwerer* / lighter leichter*
> better besser* mejor / worse schlechter* peor
> cheaper billiger* más|barato más|barata / pricier dearer costlier más|caro más|cara more|expensive teurer
> warmer hotter wärmer* / colder cooler kälter*
> brighter heller* más|brillante / darker dimmer dunkler* más|oscuro
> stronger stärker* / weaker schwächer*
> richer / poorer
> deeper / shallower
> wider breiter / narrower schmaler
> earlier früher / later später
> more mehr más / fewer less weniger menos
> before vor bevor antes prior|to ahead|of / after nach nachdem después post following
> above exceeds exceed exceeding / below beneath
> north northern nördlich norte / south southern südlich sur
> east eastern östlich este / west western westlich oeste
> bought buys buy buyer purchased acquired acquires acquire purchase kaufte* gekauft compró compraron / sold sells sell
 seller selling verkauft* vendió vendieron
> lent lends lend lender / borrowed borrows borrow borrower
> gave gives given / received receives got
> taught teaches teacher / learned learns pupil
> won wins winner beat beats defeated ganó gewann / lost loses loser perdió verlor
> led leads leader / followed follows follower
large big largest biggest huge groß* / small little tiny smallest klein*
high hoch hohe hohen highest / low niedrig lowest
most majority mehrheit mayoría meisten / minority minderheit minoría fewest
maximum at|most up|to no|more|than höchstens como|máximo hasta not|more|than
 / minimum at|least no|less|than not|less|than mindestens al|menos como|mínimo
accept* approv* adopt* passed agreed|to angenommen genehmigt* nahm|an aprob* aceptad* akzeptier*
 / reject* refus* declin* turn*|down denied denies deny veto* abgelehnt* lehnte* rechaz*
allow* permit permits permitted permission may|be dürfen erlaub* permiti* permite*
 / forbid* forbade prohibit* ban banned bans disallow* verboten* verbiet* prohib*
mandatory required requires require need needs needed compulsory obligatory obliged must erforderlich*
 verpflichtend* obligatori* deben müssen muss / optional voluntary freiwillig* opcional* voluntari* needn't free|to
open opens opened opening reopened geöffnet* öffne* offen abiert* abre abrió abrirá
 / close closes closed closing shut geschlossen* schließ* schloss cerrad* cierr* cerró cerrará
begins began begun starts started launched begann begonnen empezó comenzó empieza
 / ends ended finish* stops stopped cease* endete beendet* terminó acabó
include includes included including / exclude* excluding except
add adds added adding hinzugefügt* añad* / remov* delet* withdr* entfern* gelösch* eliminó eliminado
join joined joins / leave leaves left quit
internal inside within / external outside
succeed* success successful successfully / fail fails failed failing failure unsuccessful*
public öffentlich* público pública / private secret geheim* privado privada
support supports supported in|favour in|favor backs backed voted|for favours unterstütz* apoy*
 / oppos* against resist* voted|against gegen contra dagegen
agree agrees agreed agreement zugestimm* stimmte|zu acordó / disagree* objected contradicted widersprach
praised praises / criticis* criticiz*
love loves loved likes liked fond / hate* detest* dislike*
trust trusts trusted / distrust* suspect*
remember* / forgot* forget*
arriv* came reached / depart* went|away
hire hires hired appointed / dismiss* fired sacked
rescued saved saves spared / killed kill murdered destroyed
enable* / disable*
automatic automatically automatisch automáticamente by|itself / manual manually manuell manualmente
online virtual virtually / offline in|person
elected elects gewählt* elegid* / appointed ernannt* designad*
temporary temporarily for|a|time / permanent* for|good forever
same equal identical equally gleich* igual iguales / different differ differs differently deviate* unequal
 unterschied* anders distint* diferent*
easy easily easier simple einfach* fácil / difficult hard complex harder schwierig* difícil
safe safely / dangerous unsafe
visible / hidden invisible
often frequently always usually oft häufig immer siempre / seldom rarely hardly scarcely selten rara
morning dawn sunrise morgen mañana / evening dusk sunset abend atardecer
day daytime / night nighttime
daily / weekly / monthly / quarterly / yearly annual annually
first erste* primero primera / last final letzte* último última
upload uploads uploaded uploading / download downloads downloaded downloading
wholesale / retail
brighten* glow glows glowed shine shines / dim dims dimmed dark* fades fade faded
laughed laughs laugh / wept weeps cried cries
profit profits profitable gewinn* ganancia* / loss losses verlust* pérdida* unprofitable
income revenue revenues / expense expenses costs
asset assets / liability liabilities
import imports imported / export exports exported
strict strictly stern / lenient lax loose
=male man men boy father husband brother son drake king mann männer hombre / female woman women girl mother wife sister
 daughter hen queen frau frauen mujer
near close|to nearby nahe cerca / far distant weit lejos
full fully complete completely / partial partially partly incomplete
known / unknown
young junge* joven / elderly old aged alt* anciana anciano
deep / shallow
fresh / salt
advantage vorteil* ventaja / disadvantage nachteil* desventaja
physical / mental psychic
improv* better / worsen* deteriorat*
widespread common / rare uncommon
tightened / loosened relaxed
free|of|charge gratis kostenlos* / paid
success / defeat
with / without ohne sin
quickly rapidly fast schnell rápidamente rápido / slowly langsam lentamente lento
continu* carries|on carry|on goes|on proceeds proceed weiterläuft / halts halt aborts abort aborted fails breaks|off
stays stay remains remain kept keeps / removed dropped deleted abolished discontinued left leaves
contain contains contained / lack lacks lacked lacking
wet wetter damp humid nass feucht húmedo mojado / dry drier trocken* seco secos
thick thicker dick / thin thinner dünn
hot hottest heiß* caliente / cold coldest kalt* frío fría fríos
present attended anwesend / absent abwesend ausente apologies
empty leer* vacío vacía / occupied
lock locked locks verriegel* / unlock unlocked unlocks entriegel*
encrypt* verschlüssel* / decrypt* plaintext entschlüssel* unencrypted
enter enters entered entering / exit exits exited
attach attached attaches / detach detached detaches
connect connects connected connecting / disconnect*
install installs installed installing / uninstall*
expand expands / collapse collapses collapsed
show shows shown showing displayed displays / hide hides hidden
grant grants granted / revoke* withdrawn withheld
activat* turns|on switched|on turned|on aktivier* / deactivat* turns|off switched|off turned|off deaktivier*
horizontal* / vertical*
ancient / modern
domestic inland / foreign overseas
urban / rural
alive living lebendig vivo viva / dead died deceased tot gestorben muerto muerta
awake wach / asleep schläft schlief dormido
guilty convicted / innocent acquitted
happy glad pleased delighted glücklich feliz / sad unhappy sorrowful traurig triste
cheap inexpensive billig* barato barata / expensive costly dear teuer* caro cara
early früh temprano / late spät tarde
upstream / downstream
clockwise / counterclockwise anticlockwise
postpone* put|off delayed verschoben aplazad* aplazó / brought|forward vorgezogen adelantad* adelantó
strengthen* stärk* / weaken* schwäch*
accelerat* / decelerat*
optimistic confident / pessimistic
deposit* / withdraw*
sweet süß dulce / sour sauer bitter
loud noisy laut* / quiet quieter leise* silent
front / rear
inner / outer
friend friends ally allies friendly Freund* amigo* / enemy enemies foe foes hostile Feind* enemigo*
attack attacks attacked attacking / defend defends defended defending
victory sieg victoria triumph / niederlage derrota defeat
written in|writing schriftlich* / oral orally mündlich*
odd / even
single unmarried / married
guest guests / host hosts
employer / employee
sender / recipient
inbound incoming / outbound outgoing
upper top / lower bottom
left / right
"""


@dataclass(frozen=True, slots=True)
class Pole:
    """A word of an axis in a text: the pole's number, and its place."""

    axis: int
    pole: int
    start: int
    word: str


@cache
def _compiled() -> tuple[
    re.Pattern[str], dict[str, list[tuple[int, int]]], list[tuple[str, int, int]], tuple[frozenset[int], frozenset[int]]
]:
    """One pattern for words and phrases, the poles of whole words, of stems, and the converse axes."""
    whole: dict[str, list[tuple[int, int]]] = {}
    starts: list[tuple[str, int, int]] = []
    converse: set[int] = set()
    kin: set[int] = set()
    lines = re.sub(r"\n ", " ", _AXES.strip()).splitlines()
    for axis, line in enumerate(lines):
        if line.startswith(">"):
            converse.add(axis)
        if line.startswith("="):
            kin.add(axis)
        for pole, words in enumerate(line.lstrip(">=").split("/")):
            for word in words.split():
                plain = word.replace("|", " ")
                if plain.endswith("*") or "*" in plain:
                    starts.append((plain.replace("*", ""), axis, pole))
                else:
                    whole.setdefault(plain, []).append((axis, pole))
    phrases = sorted((word for word in whole if " " in word), key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b|[^\W\d_]+(?:-[^\W\d_]+)*", re.IGNORECASE)
    return pattern, whole, starts, (frozenset(converse), frozenset(kin))


def is_converse(axis: int) -> bool:
    """Whether an axis turns over with its sides."""
    return axis in _compiled()[3][0]


def is_kin(axis: int) -> bool:
    """Whether its words stand for people, of whom quotes may have both kinds."""
    return axis in _compiled()[3][1]


def find_poles(text: str) -> Iterator[Pole]:
    """Yield the poles of a text in order; a word may be on several axes."""
    pattern, whole = _compiled()[:2]
    for match in pattern.finditer(text):
        word = match.group().lower()
        for axis, pole in whole.get(word, ()):
            yield Pole(axis, pole, match.start(), word)
        if word not in whole:
            for start, axis, pole in _of_stem(word):
                yield Pole(axis, pole, match.start(), start)


@cache
def _starts_by_head() -> dict[str, list[tuple[str, int, int]]]:
    heads: dict[str, list[tuple[str, int, int]]] = {}
    for start, axis, pole in _compiled()[2]:
        heads.setdefault(start[:3], []).append((start, axis, pole))
    return heads


def _of_stem(word: str) -> Iterator[tuple[str, int, int]]:
    for start, axis, pole in _starts_by_head().get(word[:3], ()):
        if word.startswith(start):
            yield start, axis, pole
