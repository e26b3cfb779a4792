"""Checks in code: each kind of fault is found, and what only looks like one is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.support.ladder import find_faults, is_heading
from core.answering.support.texts import Text, in_one_language
from core.domain.support import FindingKind

FERRY = "The Marigold carried 148,310 passengers in 2025, 4 percent more than in 2024."
GROL = "King Grol, an old bugbear, rules the Cragmaw tribe from the castle."


def faults(sentence: str, evidence: str, context: str = "") -> set[FindingKind]:
    return {finding.kind for finding in find_faults(Text(sentence), Text(evidence), Text(context))}


@pytest.mark.parametrize(
    ("sentence", "evidence", "kind"),
    [
        ("9 goblins wait in ambush.", "Four goblins wait in ambush.", FindingKind.NUMBER),
        ("The Marigold carried 184,310 passengers in 2025.", FERRY, FindingKind.NUMBER),
        ("In 2025 it carried 7 percent more passengers.", FERRY, FindingKind.NUMBER),
        ("The limit is 10,000 per hour.", "This limit is 10,000 per 10 minutes.", FindingKind.NUMBER),
        ("Das Limit ist 60 Anfragen pro Sekunde.", "Bots can make 50 requests per second.", FindingKind.NUMBER),
        ("The call was on 3 May 2026.", "The call took place on May 4, 2026.", FindingKind.DATE),
        ("Release it on Friday.", "**ACTION 1**: release the post on Monday", FindingKind.DATE),
        ("Queen Lolth rules the castle.", GROL, FindingKind.NAME),
        ("The castle is not ruled by Grol.", GROL, FindingKind.NEGATION),
        ("Production will increase.", "Production is expected to decrease.", FindingKind.OPPOSITE),
        ("Such requests are valid.", "Such requests are invalid.", FindingKind.OPPOSITE),
        ("Every class must have one.", "Classes should normally have one.", FindingKind.QUANTIFIER),
        ("The company will close.", "The company will probably close.", FindingKind.HEDGE),
        ("It was the largest deficit.", "The deficit was $35 million.", FindingKind.SUPERLATIVE),
        ("Imports rose because tariffs fell.", "Imports began to increase during 2010.", FindingKind.CAUSE),
        ("The council meets every week.", "Python's Steering Council", FindingKind.HEADING),
    ],
)
def test_a_fault_is_found(sentence: str, evidence: str, kind: FindingKind) -> None:
    assert kind in faults(sentence, evidence)


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("Four goblins wait in ambush.", "There are 4 goblins in ambush."),
        ("The company earned US$51.3 billion.", "Revenue of the company was 51,262 million dollars."),
        ("The mouth is about 60 cm across.", "The mouth is 2 feet in diameter."),
        ("Together there were 29 sessions.", "Skill-up workshops had 17 sessions, breakouts 12 sessions."),
        ("One in eight people had a disability.", "12.6 percent of the people had a disability."),
        ("Subscribers accounted for 19 percent.", "81% of the views came from people who had not subscribed."),
        ("The contract dates from 1 April 2020.", "The agreement was entered into April 1, 2020."),
        ("The CPC decided.", "The Cross Project Council decided."),
        ("They open at 6 pm.", "They open at 18:00."),
        ("12,3 Millionen Menschen brauchten Hilfe.", "About 12.3 million people needed help."),
        ("It ran for 24 months.", "It ran for a further two-year term."),
    ],
)
def test_other_forms_of_the_same_figures_and_names_are_no_faults(sentence: str, evidence: str) -> None:
    assert not faults(sentence, evidence) & {FindingKind.NUMBER, FindingKind.DATE, FindingKind.NAME}


GUNDREN = "King Grol holds the dwarf Gundren captive. Four goblins guard the gate."
READ_TOKENS = "Read tokens can list and download files but cannot delete them."
RESULTS = (
    "| (in millions) | 2025 | 2024 |\n| --- | --- | --- |\n"
    "| Revenue | 51,262 | 47,018 |\n| Net income | 7,513 | 6,990 |"
)
POSTS = "Brandt stays on the board as treasurer. The secretary, Yusuf Demir, was re-elected, as was Olaf Brandt."
CAVES = "The caves were not made by the sea, but by rain."
TREATY = "The Treaty of Varn was signed on 9 October 1788 by King Aldous of Meer and Duchess Helene of Ostia."
HERONS = "Herons are usually larger than egrets."


def sure(sentence: str, evidence: str) -> set[FindingKind]:
    found = find_faults(Text(sentence), Text(evidence), Text(""))
    return {
        finding.kind for finding in found if finding.is_sure or finding.kind in (FindingKind.NUMBER, FindingKind.DATE)
    }


@pytest.mark.parametrize(
    ("sentence", "evidence", "kind"),
    [
        ("Gundren holds King Grol captive.", GUNDREN, FindingKind.ROLE),
        ("The treaty was signed by King Aldous of Ostia and Duchess Helene of Meer.", TREATY, FindingKind.ROLE),
        (
            "Tokyo is certain, while Kyoto depends on a sponsor.",
            "Kyoto is certain, while Tokyo depends on a sponsor.",
            FindingKind.ROLE,
        ),
        ("It moved from Malmö to Lund.", "It moved from Lund to Malmö in 1871.", FindingKind.ROLE),
        ("Viktor leads the strings.", "| Strings | 34 | Amara |\n| Brass | 12 | Viktor |", FindingKind.ROLE),
        ("Egrets are usually larger than herons.", HERONS, FindingKind.OPPOSITE),
        ("Herons are smaller than egrets.", HERONS, FindingKind.OPPOSITE),
        ("Der Rat lehnte den Haushalt ab.", "The council approved the budget.", FindingKind.OPPOSITE),
        ("The council rejected the budget.", "The council approved the budget by 7 votes to 2.", FindingKind.OPPOSITE),
        ("Read tokens can delete files.", READ_TOKENS, FindingKind.NEGATION),
        (
            "A missing header must be treated as an error.",
            "A missing header MUST NOT be treated as an error.",
            FindingKind.NEGATION,
        ),
        ("Mr Ode does not retire this summer.", "Mr Ode teaches music; both retire this summer.", FindingKind.NEGATION),
        ("The flag was removed in version 5.", "The flag will be removed in version 5.", FindingKind.HEDGE),
        ("Servers must send it in lower case.", "Servers SHOULD send it in lower case.", FindingKind.HEDGE),
        ("She moved from the island to the harbour.", "She moved to the island from the harbour.", FindingKind.ROLE),
        (
            "The engineer Aker sold the mill to the town.",
            "Aker built the dam. The council sold the mill to the town.",
            FindingKind.ROLE,
        ),
        ("Hold it for eight minutes.", "Hold it for eight seconds.", FindingKind.NUMBER),
        ("It costs 100 euros a year.", "It costs 10 euros a year.", FindingKind.NUMBER),
        ("Joran Beck did not take the command.", "Joran Beck took the command the next day.", FindingKind.NEGATION),
        ("Four orcs guard the gate.", GUNDREN, FindingKind.WORD),
        ("The gate of Brack is open to Ostia.", "The gate of Selm is open to Ostia.", FindingKind.NAME),
        (
            "The orchestra tours Japan in spring.",
            "The orchestra will probably tour Japan in spring.",
            FindingKind.HEDGE,
        ),
        (
            "Two engines were replaced because they leaked oil.",
            "Two engines were replaced in March.",
            FindingKind.CAUSE,
        ),
        ("All herons nest in trees.", "Most herons nest in trees.", FindingKind.QUANTIFIER),
        ("The treaty was signed on 9 October 1798.", TREATY, FindingKind.DATE),
        ("It costs 30 gold pieces.", "It costs 30 silver pieces.", FindingKind.NUMBER),
        (
            "It is inspected five times a year.",
            "It is inspected twice a year, by crane, boat, rope and drone.",
            FindingKind.NUMBER,
        ),
        ("The clinic treated 8,240 patients.", "The clinic treated 8,420 patients.", FindingKind.NUMBER),
        ("Revenue was US$51.3 million in 2025.", RESULTS, FindingKind.NUMBER),
        ("Revenue was US$53.1 billion in 2025.", RESULTS, FindingKind.NUMBER),
        ("Net income was 51,262 million in 2025.", RESULTS, FindingKind.ROLE),
        ("Revenue fell from 51,262 in 2024 to 47,018 in 2025.", RESULTS, FindingKind.ROLE),
        ("Olaf Brandt is the secretary.", POSTS, FindingKind.ROLE),
        ("Yusuf Demir was elected treasurer.", POSTS, FindingKind.ROLE),
        ("Five members voted for Motion 4.", "Motion 5 failed. Motion 4 was carried by 6 to 2.", FindingKind.NUMBER),
        ("The caves were made by the sea.", CAVES, FindingKind.NEGATION),
        ("The trail is closed in July.", "It is closed from 1 November to 30 April.", FindingKind.DATE),
    ],
)
def test_what_code_is_sure_of(sentence: str, evidence: str, kind: FindingKind) -> None:
    assert kind in sure(sentence, evidence)


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("Gundren is held captive by King Grol.", GUNDREN),
        ("King Aldous and Duchess Helene signed the Treaty of Varn.", TREATY),
        ("Egrets tend to be smaller than herons.", HERONS),
        ("Seidenreiher sind kleiner als Reiher.", HERONS),
        ("Mara bought the amulet from Oswin.", "The priest Oswin sold the amulet to Mara."),
        ("A read token does not allow deleting files.", READ_TOKENS),
        ("The town did not surrender.", "The town refused to surrender."),
        ("An object never succeeds on a saving throw.", "Objects always fail saving throws."),
        ("Operating costs declined by 3 percent.", "Operating costs fell by 3 percent."),
        ("A tour of Japan is likely.", "The orchestra will probably tour Japan."),
        ("Captain Ines Holt retired.", "Holt retired on 12 June 2024."),
        ("Beck took command on 13 June 2024.", "Holt retired on 12 June 2024. Beck took command the next day."),
        ("Nine votes were cast.", "The budget was approved by 7 votes to 2."),
        ("It holds one and a half metres.", "It holds 5 feet."),
        ("The oven stays closed for 15 minutes.", "Do not open the oven during the first quarter of an hour."),
        ("The replica took over at 02:14.", "The disk was full at 02:10. The replica took over after four minutes."),
        ("Visiting hours end at 6 p.m.", "Visitors may come from two to six in the afternoon."),
        ("It was born in the 1940s.", "It was born in 1941."),
        ("Three months late costs 75 euros.", "Whoever is late pays 25 euros for each month."),
        ("Cargo went down by 0.7 million tonnes.", "Cargo declined from 9.6 to 8.9 million tonnes."),
        ("A child of ten pays nothing.", "Admission is free for children under 12."),
        ("It happened in 870 or 871.", "It happened in 871."),
        ("Jedes Jahr gibt es eine Versammlung.", "Die Versammlung findet einmal im Jahr statt."),
        ("Der Vorstand hat fünf Mitglieder.", "Der Vorstand besteht aus fünf Personen."),
        ("Ferries run again from the middle of April.", "Ferries do not run between 1 March and 15 April."),
        ("Ines Falk won a medal.", "She won a medal in 1999, as had Tom Brandt."),
        ("Bruun was taught by Anna Wester.", "The portrait by Anna Wester is now attributed to her pupil Klaas Bruun."),
        ("Revenue was US$51.3 billion in 2025.", RESULTS),
        ("Revenue rose by some nine percent.", RESULTS),
        ("Net income was lower in 2024 than in 2025.", RESULTS),
        ("Olaf Brandt is the treasurer.", POSTS),
        ("Some 1,540 people worked at home.", "We had 4,310 employees, of whom 2,770 worked abroad."),
        ("In 2015 it was out of operation.", "It was shut down between August 2014 and May 2016."),
        ("In January the trail is closed.", "It is closed from 1 November to 30 April."),
        ("A child paid 4.50 euros.", "Adults paid 9 euros and children half of that."),
        ("The team needed 208 seconds in total.", "The runners needed 52.3 seconds, 54.1, 51.8 and 49.8."),
        ("With VAT, 972 euros are paid.", "3 pumps at 240 euros each, delivery 90 euros. VAT of 20% is added."),
        ("She was about twelve when he died.", "Ada was born in 1891. Her father died in 1903."),
        ("A purchase of 1,500 euros needs no approval.", "The board may spend up to 2,000 euros by itself."),
        ("It covers almost 12,000 km².", "It drains 11,900 square kilometres."),
        ("The caves were formed by rain.", CAVES),
        ("Oskar has borrowed the extractor.", "Oskar gave me two frames, and I lent him the extractor."),
        ("No patient who got the drug fell ill.", "Three of the patients who got placebo fell ill."),
        ("Only the team lead purges the queue.", "Only the team lead may purge the queue."),
        ("Bruno soll 40 Stühle bestellen.", "Bruno is to order 40 chairs."),
        ("Garrick lost his horse.", "Sister Ivo warned Garrick. He crossed the bridge and lost his horse."),
    ],
)
def test_the_same_in_other_words_is_no_sure_fault(sentence: str, evidence: str) -> None:
    assert not sure(sentence, evidence)


def test_the_context_may_name_what_the_quote_calls_he() -> None:
    assert FindingKind.NAME in faults("King Grol is 40 years old.", "He is 40 years old.")
    assert FindingKind.NAME not in faults(
        "King Grol is 40 years old.", "He is 40 years old.", context="King Grol > Age"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Treasure", True),
        ("## Header Format", True),
        ("Cragmaw Castle", True),
        ("Cragmaw Castle\nTreasure", True),
        ("# Castle\n## Treasure", True),
        ("Chapter 2: The Mill", True),
        ("Part Two", True),
        ("# Castle\nThe gate is open.", False),
        ("4 goblins", False),
        ("The gate is open.", False),
        ("Gold: 50", False),
    ],
)
def test_a_heading_alone_is_no_evidence(text: str, expected: bool) -> None:
    assert is_heading(text) is expected


@given(st.text(max_size=200))
def test_a_sentence_never_faults_its_own_figures_dates_and_names(text: str) -> None:
    hard = {FindingKind.NUMBER, FindingKind.DATE, FindingKind.NAME, FindingKind.OPPOSITE}

    assert not faults(text, text) & hard


@given(st.integers(2, 10**9), st.integers(2, 10**9))
def test_another_figure_of_the_same_thing_is_a_rival(said: int, claimed: int) -> None:
    found = find_faults(Text(f"There are {claimed} ferries."), Text(f"There are {said} ferries."), Text(""))
    numbers = [finding for finding in found if finding.kind is FindingKind.NUMBER]

    assert [finding.other for finding in numbers] == ([] if said == claimed else [str(said)])


@pytest.mark.parametrize("behind", ["It opened in 1901.", "open since 1901", "or it opened in 1901"])
def test_a_figure_is_a_choice_only_beside_a_whole_word_for_it(behind: str) -> None:
    found = faults(f"2031: {behind}", "The pier opened on 3 May 1901.")
    assert (FindingKind.NUMBER in found) is not behind.startswith("or ")


TIN = "The cake keeps for four days in a tin, not in the fridge."
VALLEY = "The Tarn valley was carved by ice, not by the river, which only later cut the narrow gorge."
WEIR = "The council rejected the motion to close Weir Street to cars."
MILK = "Hollin Farms sells its milk to Brae Dairies."
TRIAL = "In the trial 64 of 160 patients given the drug improved, against 24 of 160 given a placebo."
STAFF = "The company employed 312 people at the end of the year, 27 fewer than a year before."


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("The cake should not be kept in the fridge.", TIN),
        ("Weir Street stays open to cars.", WEIR),
        ("Reiter is no longer city treasurer.", "Nadia Okoro succeeded Paul Reiter as city treasurer."),
        ("Silas was younger than Edmund.", "Edmund left the house to his younger brother Silas."),
        ("A member pays 42 euros for three nights.", "Members pay 14 euros a night, others double that."),
        ("A year earlier there had been 339 employees.", STAFF),
        ("Forty percent of those on the drug got better.", TRIAL),
        ("You need an appointment if there are fifteen of you.", "Groups of more than twelve need an appointment."),
        ("The team needed three minutes and 28 seconds.", "The runners needed 52.3 seconds, 54.1, 51.8 and 49.8."),
        ("It was closed for eleven weeks.", "It was closed on 3 April 2023 and reopened on 19 June 2023."),
        ("Brae Dairies kauft die Milch von Hollin Farms.", MILK),
    ],
)
def test_what_follows_in_a_step_or_two_is_no_sure_fault(sentence: str, evidence: str) -> None:
    found = find_faults(Text(sentence), Text(evidence), Text(""))

    assert [finding for finding in found if finding.is_sure] == []


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("Keep the cake in the fridge.", TIN),
        ("The river carved the Tarn valley.", VALLEY),
        ("Weir Street will be closed to cars.", WEIR),
        ("Silas was older than Edmund.", "Edmund left the house to his younger brother Silas."),
        ("Adults take two tablets twice a day.", "Adults take one tablet twice a day with food."),
        ("Keys expire after 90 days even if they are renewed.", "Keys expire after 90 days unless they are renewed."),
        ("Hollin Farms kauft die Milch von Brae Dairies.", MILK),
    ],
)
def test_a_turned_statement_is_a_sure_fault(sentence: str, evidence: str) -> None:
    found = find_faults(Text(sentence), Text(evidence), Text(""))

    assert [finding for finding in found if finding.is_sure]


def test_texts_in_two_languages_are_read_in_one() -> None:
    quotes = ["Revenue rose by 3 percent.", "Operating costs fell."]

    assert in_one_language(Text("Die Betriebskosten stiegen um 3 Prozent."), quotes)[1] == quotes
    assert "cost" in in_one_language(Text("Die Betriebskosten stiegen um 3 Prozent."), quotes)[0]
    assert in_one_language(Text("The costs fell."), quotes) == ("The costs fell.", quotes)
