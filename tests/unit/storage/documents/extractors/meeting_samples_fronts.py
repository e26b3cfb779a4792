"""Invented minutes whose people stand in other forms: below a label, several labels a line, in HTML."""

from tests.unit.storage.documents.extractors.meeting_samples import Sample

FRONTS = (
    Sample(
        "board.txt",
        """MINUTES OF THE HARBOUR BOARD
Held on 4 June 2024

PRESENT:     Mrs A. Lee (Chair)
             Mr B. Ruiz
             Dr Carla Moor

APOLOGIES:   Mr D. Hale
             Ms E. Quill

1. PIER
   RESOLVED: That the pier be closed in winter.
   ACTION: Mr Ruiz to order a gate by 1 July 2024.
""",
        "2024-06-04",
        "Mrs A. Lee|Mr B. Ruiz|Dr Carla Moor",
        "That the pier be closed in winter.",
        "Mr Ruiz > order a gate @ 2024-07-01",
    ),
    Sample(
        "one-a-line.txt",
        """Minutes of the garden team, 7 May 2024
Present: Ann Lee
Ben Ruiz
Carla Moor

Ann opened the meeting.
""",
        "2024-05-07",
        "Ann Lee|Ben Ruiz|Carla Moor",
        "",
        "",
    ),
    Sample(
        "core-call.md",
        """# Core call 12 notes, 29 March 2024

## Attendees
* Ann Lee
* Ben Ruiz

**DECISION 12.1** The pier stays open until dusk.

**ACTION 12.2** Ben to ask for new lamps.
""",
        "2024-03-29",
        "Ann Lee|Ben Ruiz",
        "The pier stays open until dusk.",
        "Ben > ask for new lamps.",
    ),
    Sample(
        "retro.md",
        """# Crew retrospective 2024-07-05

Facilitator: Ann. Here: Ann, Ben, Carla M. Away: Dan

## Action items
- [ ] Ben: oil the winch
- Next meeting 19 July
""",
        "2024-07-05",
        "Ann|Ben|Carla M",
        "",
        "Ben > oil the winch [ ]",
    ),
    Sample(
        "wiki.html",
        """<html><body><h1>2024-02-21 Crew weekly</h1>
<h2>Participants</h2><ul><li>Ann Lee</li><li>Ben Ruiz</li></ul>
<h2>Action items</h2><ul><li>Ann Lee to ask the harbour office for the new list of moorings</li>
<li>Renew the lease of the upper store (Ben Ruiz)</li></ul>
<h2>Decisions</h2><ul><li>The boats are painted in April, all of them, before the season</li>
<li>Ropes are kept in the store</li></ul><div><p>Powered by a wiki.</p></div></body></html>""",
        "2024-02-21",
        "Ann Lee|Ben Ruiz",
        "The boats are painted in April, all of them, before the season|Ropes are kept in the store",
        "Ann Lee > ask the harbour office for the new list of moorings|Ben Ruiz > Renew the lease of the upper store",
    ),
)
