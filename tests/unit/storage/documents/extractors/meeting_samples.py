"""Short invented minutes in the styles people write them in, with what they say. Two lists: English, and others."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """`actions` are "owner > what @ due", " [x]" or " [ ]" after it where its state is said; lists are split at "|"."""

    name: str  # of the file; its suffix says how it is read
    text: str
    date: str | None = None
    attendees: str = ""
    decisions: str = ""
    actions: str = ""

    def listed(self, field: str) -> list[str]:
        return [item.strip() for item in str(getattr(self, field)).split("|") if item.strip()]


MARKDOWN = (
    Sample(
        "board.md",
        """# Harbour Trust board meeting

**Date:** 3 May 2024
**Location:** Boat house

## Attendees

- Ann Lee (chair)
- Ben Ruiz
- Carla Díaz (notes)

## Apologies

- Dan Moss

## Decisions

1. The east pier closes in June.
2. Membership stays at 40 euros.

## Action items

- [ ] @ann call the insurer by 2024-05-10
- [x] @ben print the posters
- [ ] Order paint (Carla Díaz)

## Next meeting

7 June 2024
""",
        "2024-05-03",
        "Ann Lee|Ben Ruiz|Carla Díaz",
        "The east pier closes in June.|Membership stays at 40 euros.",
        "ann > call the insurer @ 2024-05-10 [ ]|ben > print the posters [x]|Carla Díaz > Order paint [ ]",
    ),
    Sample(
        "2024-02-14-sync.md",
        """# Weekly sync

Present: Mia, Noor, Olek

### Login
Mia showed the new form. We decided to ship it behind a switch.

### Backups
Olek reported two failures. Noor will check the disk by Friday.
""",
        "2024-02-14",
        "Mia|Noor|Olek",
        "We decided to ship it behind a switch.",
    ),
    Sample(
        "retro.md",
        """# Sprint 12 retrospective (2023-11-20)

**Participants**: Ivo, Jana, Kim Tan

**What went well**
- Fewer alarms

**Decisions**
- Stand-ups move to 10:00
- No deploys on Friday

**Action items**

| Action | Owner | Due | Status |
|---|---|---|---|
| Write the on-call guide | Jana | 2023-12-01 | Done |
| Buy a second phone | Kim Tan | 5 December 2023 | Open |
| Clean the backlog | | | |
""",
        "2023-11-20",
        "Ivo|Jana|Kim Tan",
        "Stand-ups move to 10:00|No deploys on Friday",
        "Jana > Write the on-call guide @ 2023-12-01 [x]|Kim Tan > Buy a second phone @ 2023-12-05 [ ]"
        "| > Clean the backlog",
    ),
    Sample(
        "steering.md",
        """# Steering group minutes

| Date | 12 March 2025 |
|---|---|
| Attendees | Rosa Klein, Sam Oduya, Tess Park |
| Apologies | Uwe Brandt |

| No | Type | Item | Owner | Due |
|---|---|---|---|---|
| 1 | Decision | Use one supplier for all sites | | |
| 2 | Action | Get three quotes | Sam Oduya | 2025-03-28 |
| 3 | Info | The lift is repaired | | |
""",
        "2025-03-12",
        "Rosa Klein|Sam Oduya|Tess Park",
        "Use one supplier for all sites",
        "Sam Oduya > Get three quotes @ 2025-03-28",
    ),
    Sample(
        "arch-meeting.md",
        """# Architecture meeting — 2022/09/08

Attendees: @lena, @marek, @nils

## Storage
- Two options were shown
- Decision: keep one database for each customer
- Action: @marek to write the migration plan by 20 September

## Naming
- DECIDED: services are named after rivers
- ACTION (lena, nils): rename the queue
""",
        "2022-09-08",
        "@lena|@marek|@nils",
        "keep one database for each customer|services are named after rivers",
        "marek > write the migration plan @ 2022-09-20|lena, nils > rename the queue",
    ),
    Sample(
        "Meeting 12.md",
        """# Garden club meeting 12 notes
### Date: Saturday 6 April 2024

# Summary

**DECISION 12.1**: The pond is filled in autumn.

**DECISION 12.2**: Two new beds along the wall.

**ACTION 12.1**: Petra to ask the council for gravel.

**ACTION 12.2**: Quin to borrow a digger before next meeting.

----

**Petra**: Shall we begin? We decided nothing last time, I think.

**Quin**: I will bring cake if we agreed on cake.

**Petra**: We should agree to that.

# Attendees

* Petra Holm
* Quin
* Rui (treasurer)
""",
        "2024-04-06",
        "Petra Holm|Quin|Rui",
        "The pond is filled in autumn.|Two new beds along the wall.",
        "Petra > ask the council for gravel.|Quin > borrow a digger @ next meeting",
    ),
    Sample(
        "council/2021-06-01.md",
        """# Council call 2021-06-01

## Present

* Sol Vega (@svega)
* Tariq Aziz (@taz)
* Una Byrne

## Agenda

### Open requests

* Add a charter for the tools group [#41](https://example.org/41)
  * approved
* Move the archive to cold storage [#42](https://example.org/42)
  * Agreed to wait for the cost report
* New logo [#43](https://example.org/43)
  * not discussed
* Can we close old issues? [#44](https://example.org/44)
  * no decision yet
""",
        "2021-06-01",
        "Sol Vega (@svega)|Tariq Aziz (@taz)|Una Byrne",
        "Add a charter for the tools group|Agreed to wait for the cost report",
    ),
    Sample(
        "owners.md",
        """# Product meeting notes, 9 January 2025

## Who was there
Vera, Wim and Xenia

## Tasks

### Vera
- Draft the price list by 17 January
- Call the printer

### Wim
- Fix the sign-up form
""",
        "2025-01-09",
        "Vera|Wim|Xenia",
        "",
        "Vera > Draft the price list @ 2025-01-17|Vera > Call the printer|Wim > Fix the sign-up form",
    ),
    Sample(
        "nested.md",
        """# Ops meeting 2024-08-19

- Attendees:
  - Yara
  - Zeno
- Decisions:
  - Restart the old server on Sundays
- Action items:
  - Yara: send the notice (due: 2024-08-23)
  - Zeno - update the runbook
- Next meeting: 2024-08-26
""",
        "2024-08-19",
        "Yara|Zeno",
        "Restart the old server on Sundays",
        "Yara > send the notice @ 2024-08-23|Zeno > update the runbook",
    ),
    Sample(
        "people/1on1.md",
        """# 1:1 Amir / Bea 2024-10-02

## Topics
- Holidays
- Training budget

## Next steps
- [ ] Amir to book the course by end of month
- [ ] Bea will share the slides
""",
        "2024-10-02",
        "",
        "",
        "Amir > book the course @ end of month [ ]|Bea > Bea will share the slides [ ]",
    ),
    Sample(
        "vault/Daily sync.md",
        """---
date: 2024-03-05
tags: [meeting]
---
# Daily sync 2024-03-05

## Attendees
- [[Cleo Frank]]
- [[people/dov|Dov]]

## Notes
- Search is slow on old phones
- Agreed to drop support for version 3

## To do
- [ ] [[Dov]] to measure start time 📅 2024-03-12
- [x] Close the survey ✅
""",
        "2024-03-05",
        "Cleo Frank|Dov",
        "Agreed to drop support for version 3",
        "Dov > measure start time @ 2024-03-12 [ ]| > Close the survey [x]",
    ),
    Sample(
        "rolling-meeting-notes.md",
        """# Editors meeting notes

## 2024-05-08

Present: Eli, Fay

- Decision: chapter 4 goes last

## 2024-05-01

Present: Eli, Gus

- Action: Gus to ask for pictures
""",
        "2024-05-08",
        "Eli|Fay",
        "chapter 4 goes last",
    ),
    Sample(
        "table-people.md",
        """# Safety committee meeting

Date: 18/10/2023

## Attendance

| Name | Role | Present |
|---|---|---|
| Hana Sato | Chair | Yes |
| Igor Petrov | Member | No |
| June Abbot | Member | Yes |

## Resolutions

- **R1** - Helmets are worn in hall B
- **R2** - None of the ladders may be lent

## Follow-ups

- Helmets to be ordered (June Abbot, by 1 November)
""",
        "2023-10-18",
        "Hana Sato|June Abbot",
        "Helmets are worn in hall B|None of the ladders may be lent",
        "June Abbot > Helmets to be ordered @ 2023-11-01",
    ),
    Sample(
        "none.md",
        """# Standup 2024-07-01

Attendees: Kofi, Lia

## Decisions
None

## Action items
No action items
""",
        "2024-07-01",
        "Kofi|Lia",
    ),
)

PLAIN = (
    Sample(
        "minutes.txt",
        """MINUTES OF THE ALLOTMENT SOCIETY

Held on Tuesday, 4 June 2024

PRESENT: Mary Quill (Chair), Ned Stone, Olive Webb, and P. Yates
APOLOGIES: Ron Zell

1. MATTERS ARISING
The gate has been mended.

2. WATER
It was agreed that the tap be locked at night. Ned Stone reported that locks
are cheap.

3. SHOW
The motion to hold the show on 7 September was carried unanimously.

ACTION POINTS
1. Olive to print the schedule by 1 July
2. Mary to write to the vicar

The meeting closed at 9.15 pm.
""",
        "2024-06-04",
        "Mary Quill|Ned Stone|Olive Webb|P. Yates",
        "",
        "Olive > print the schedule @ 2024-07-01|Mary > write to the vicar",
    ),
    Sample(
        "call-notes.txt",
        """Call with the roofers
Date: 05/22/2023
Participants: Quentin; Rhea Banks; Stan

Decisions:
- Slate instead of tile
- Start in week 30

Next steps:
- Rhea Banks -> send the drawings
- Stan: check the scaffold, due 06/02/2023
""",
        "2023-05-22",
        "Quentin|Rhea Banks|Stan",
        "Slate instead of tile|Start in week 30",
        "Rhea Banks > send the drawings|Stan > check the scaffold @ 2023-06-02",
    ),
    Sample(
        "irc.txt",
        """Packaging team meeting, 2020-11-17

Attendees
---------
toma
ulla
vik

<ulla> hello
#topic release
#agreed freeze starts on Monday
#action vik to tag the branch
RESOLVED: drop the old installer
ACTION: toma to mail the list
""",
        "2020-11-17",
        "toma|ulla|vik",
        "freeze starts on Monday|drop the old installer",
        "vik > tag the branch|toma > mail the list",
    ),
    Sample(
        "dash.txt",
        """Meeting: Kitchen refit
When: March 9th, 2024
Attendees - Wanda, Xavi, Yusuf

Agreed - gas hob stays
Agreed - tiles from the shop in town

Actions
Wanda - order tiles - Friday
Xavi - measure the window
Yusuf to paint the door by March 15th
""",
        "2024-03-09",
        "Wanda|Xavi|Yusuf",
        "gas hob stays|tiles from the shop in town",
        "Wanda > order tiles @ Friday|Xavi > measure the window|Yusuf > paint the door @ 2024-03-15",
    ),
    Sample(
        "transcript-minutes.txt",
        """Minutes, library working group, 14.02.2023

Present: Zora Nye, Abel Cho, Britt Moe

Zora: The catalogue is late again.
Abel: I could look at it, but we have not decided anything.
Zora: Should we agree on a date?
Abel: The vendor was approved by some other board, I heard.
Britt: Fine by me.

Decision: The catalogue opens on 1 April.
Action: Abel Cho will tell the vendor by 20 February.
""",
        "2023-02-14",
        "Zora Nye|Abel Cho|Britt Moe",
        "The catalogue opens on 1 April.",
        "Abel Cho > Abel Cho will tell the vendor @ 2023-02-20",
    ),
)
