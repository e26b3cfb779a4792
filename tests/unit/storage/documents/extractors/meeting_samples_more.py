"""More invented minutes: layouts that mix labels, headings, boxes and tables in their own ways."""

from tests.unit.storage.documents.extractors.meeting_samples import Sample

MORE = (
    Sample(
        "emoji.md",
        """# 🗓️ Growth sync – Jan 15, 2025

👥 **Attendees:** Adele, Boris, Chen Wu

### ✅ Decisions
- Pause the newsletter until March
- **Pricing page:** keep two plans

### 🎯 Next steps
- **Adele**: write the banner text (by Jan 20)
- **Boris & Chen Wu** to review the numbers
""",
        "2025-01-15",
        "Adele|Boris|Chen Wu",
        "Pause the newsletter until March|Pricing page: keep two plans",
        "Adele > write the banner text @ 2025-01-20|Boris & Chen Wu > review the numbers",
    ),
    Sample(
        "boxes.md",
        """# Vorstand call 2024-04-04

## Attendees
- [x] Dina
- [ ] Emil
- [x] Frida

## Decisions and action items
- We agreed to rent the hall
- Dina to sign the contract by 12 April
- ~~Frida: send the invoice~~
""",
        "2024-04-04",
        "Dina|Frida",
        "We agreed to rent the hall",
        "Dina > sign the contract @ 2024-04-12|Frida > send the invoice [x]",
    ),
    Sample(
        "scribe.txt",
        """Accessibility Working Group Teleconference
17 Oct 2023

Present: gero, hilde, ilse_k
Regrets: jonas
Chair: hilde
Scribe: gero

ilse_k: contrast is still open
hilde: any objections?

RESOLUTION: Publish the draft as a note
ACTION: ilse_k to open an issue on contrast
ACTION-31: gero to update the test suite - due 2023-10-31
""",
        "2023-10-17",
        "gero|hilde|ilse_k",
        "Publish the draft as a note",
        "ilse_k > open an issue on contrast|gero > update the test suite @ 2023-10-31",
    ),
    Sample(
        "council-formal.txt",
        """TOWN COUNCIL
REGULAR MEETING MINUTES
JANUARY 9, 2024

Members Present: Karl Boone, Lydia Marsh, Moses Finch
Members Absent: Nell Tripp
Staff Present: Opal Reed

Motion by Marsh, seconded by Finch, to close Elm Street on market days. Motion carried 3-0.

The minutes of December 12, 2023 were approved.

Next meeting: February 13, 2024
""",
        "2024-01-09",
        "Karl Boone|Lydia Marsh|Moses Finch|Opal Reed",
        "",
        "",
    ),
    Sample(
        "decision-log.md",
        """# Design review meeting 2024-09-30

Attendees: Pavel, Ruth

| # | Decision | Rationale | Owner |
|---|---|---|---|
| D1 | Use a left-hand menu | Tested better with new users | Ruth |
| D2 | No dark theme for now | Too few requests | Pavel |

| ID | Action item | Assigned to | Deadline | Done? |
|---|---|---|---|---|
| A1 | Sketch the menu | Ruth | Oct 4 | no |
| A2 | Tell sales | Pavel | ASAP | yes |
""",
        "2024-09-30",
        "Pavel|Ruth",
        "Use a left-hand menu|No dark theme for now",
        "Ruth > Sketch the menu @ 2024-10-04 [ ]|Pavel > Tell sales @ ASAP [x]",
    ),
    Sample(
        "numbered.txt",
        """Minutes of the residents' meeting

1. Date: 20 February 2023
2. Attendees: Saul Berg, Tilda Orr, Umar Khan
3. Decisions
   3.1 The cellar is painted white
   3.2 Bicycles go to the yard
4. Actions
   4.1 Umar Khan to buy paint
   4.2 Tilda Orr to label the bicycles by 1 March
5. Next meeting: 20 March 2023
""",
        "2023-02-20",
        "Saul Berg|Tilda Orr|Umar Khan",
        "The cellar is painted white|Bicycles go to the yard",
        "Umar Khan > buy paint|Tilda Orr > label the bicycles @ 2023-03-01",
    ),
    Sample(
        "blank-lines.md",
        """## Budget meeting 2022-03-03

**Attendees**

Vida

Walter Poe

Yves

**Action Items**

Vida will send the sheet to everyone.

Update the forecast (Walter Poe)

# Discussion

Vida showed last year's figures.
""",
        "2022-03-03",
        "Vida|Walter Poe|Yves",
        "",
        "Vida > Vida will send the sheet to everyone.|Walter Poe > Update the forecast",
    ),
    Sample(
        "company.md",
        """# Kick-off meeting

*Date*: 2024-11-05

## Participants

- Acme: Arno Beck, Bettina Coll
- Globex:
  - Carlo Dee
  - Doris Eng – project lead

## Agreements

* Weekly call on Tuesdays.
* Files are kept in one folder;
  nobody mails copies.

## Action list

1. [Arno Beck] Set up the folder
2. [Doris Eng] Invite everyone – 8 November 2024
""",
        "2024-11-05",
        "Arno Beck|Bettina Coll|Carlo Dee|Doris Eng",
        "Weekly call on Tuesdays.|Files are kept in one folder; nobody mails copies.",
        "Arno Beck > Set up the folder|Doris Eng > Invite everyone @ 2024-11-08",
    ),
    Sample(
        "by-topic.md",
        """# Kitchen team meeting, Friday 10/05/2024

Attendees: Ella, Fritz, Grit

## Ovens

The old oven smokes.

**Decision:** buy a new one

**Actions:**
- Ella to compare prices
- Fritz to measure the door

## Menu

**Decision:** soup every day

**Actions:**
- Grit to write the list @ella
""",
        "2024-05-10",
        "Ella|Fritz|Grit",
        "buy a new one|soup every day",
        "Ella > compare prices|Fritz > measure the door|Grit > write the list @ella",
    ),
    Sample(
        "previous.md",
        """# Team meeting 2024-06-18

Present: Hedda, Ingo

## Previous action items
- [x] Hedda to water the plants

## New action items
- Ingo to water the plants

## Decisions from last meeting
- Plants stay
""",
        "2024-06-18",
        "Hedda|Ingo",
        "",
        "Ingo > water the plants",
    ),
    Sample(
        "details.md",
        """# Pier team meeting 2024-03-04

## Attendees

- Crew:
  - Ann Lee
  - Ben Ruiz
    - joined late and left before the vote on the lamps
- Guests: Cleo Frank

The room was full of people from all over the harbour that evening.

## Agenda

1. Lamps
   - old ones
2. Ropes

The order was kept.

## Decisions

- Lamps:
  - The lamps stay
  - [ ] Ask for a price
- Shall we keep the ropes?
- The ropes are sold
  - to the school

## Action items

- Ann Lee:
  - paint the lamp
  - write the sign
- Ben Ruiz to sell the ropes
  - the old ones first
- Who paints the pier?
- Next meeting on 1 April
- Pause the painting until the wind drops

Cleo thanked everybody.

## Previous decisions

The bench stays.
""",
        "2024-03-04",
        "Cleo Frank|Ann Lee|Ben Ruiz",
        "The lamps stay|The ropes are sold",
        "> Ask for a price [ ]|Ann Lee > paint the lamp|Ann Lee > write the sign|Ben Ruiz > sell the ropes",
    ),
)
