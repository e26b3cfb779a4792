"""More invented minutes: other languages, other kinds of files, and documents that are no minutes at all."""

from tests.unit.storage.documents.extractors.meeting_samples import Sample

LANGUAGES = (
    Sample(
        "protokoll.md",
        """# Protokoll der Teamsitzung

**Datum:** 3. März 2025
**Teilnehmende:** Anke Vogel, Bernd Kraus, Cem Yilmaz
**Entschuldigt:** Dora Lang

## Beschlüsse
- Das Lager wird im Mai geräumt.
- Neue Regale werden gekauft.

## Aufgaben
- [ ] Anke: Angebote einholen bis 14.3.2025
- [x] Bernd: Mietvertrag prüfen

Es wurde beschlossen, den Zaun zu streichen.
""",
        "2025-03-03",
        "Anke Vogel|Bernd Kraus|Cem Yilmaz",
        "Das Lager wird im Mai geräumt.|Neue Regale werden gekauft.",
        "Anke > Angebote einholen @ 2025-03-14 [ ]|Bernd > Mietvertrag prüfen [x]",
    ),
    Sample(
        "compte-rendu.md",
        """# Compte rendu de réunion du 12 avril 2024

Présents : Élise Marchand, Farid Benali, Gaëlle Roux
Excusés : Hugo Petit

## Décisions
- Le local ouvre le samedi.

## Actions à mener

| Action | Responsable | Échéance |
|---|---|---|
| Acheter des clés | Farid Benali | 20/04/2024 |
| Afficher les horaires | Gaëlle Roux | 22/04/2024 |
""",
        "2024-04-12",
        "Élise Marchand|Farid Benali|Gaëlle Roux",
        "Le local ouvre le samedi.",
        "Farid Benali > Acheter des clés @ 2024-04-20|Gaëlle Roux > Afficher les horaires @ 2024-04-22",
    ),
    Sample(
        "acta.md",
        """# Acta de la reunión

Fecha: 8 de octubre de 2023
Asistentes: Inés Mora, Javier Gil y Karla Ruiz

## Acuerdos
- Se compra una impresora.

## Tareas
- Javier: pedir presupuesto
- Karla: avisar al banco antes del 15 de octubre
""",
        "2023-10-08",
        "Inés Mora|Javier Gil|Karla Ruiz",
        "Se compra una impresora.",
        "Javier > pedir presupuesto|Karla > avisar al banco @ 2023-10-15",
    ),
    Sample(
        "verbale.md",
        """# Verbale della riunione del 5 giugno 2024

Presenti: Luca Neri, Marta Rossi

Decisione: il corso parte a settembre
Azione (Marta): prenota la sala
""",
        "2024-06-05",
        "Luca Neri|Marta Rossi",
        "il corso parte a settembre",
        "Marta > prenota la sala",
    ),
    Sample(
        "notulen.md",
        """# Notulen vergadering 21 november 2024

Aanwezig: Nienke de Wit, Otto Bakker
Afwezig: Piet Smit

## Besluiten
- De kantine blijft open

## Actiepunten
- Otto Bakker: sleutels regelen (1 december 2024)
""",
        "2024-11-21",
        "Nienke de Wit|Otto Bakker",
        "De kantine blijft open",
        "Otto Bakker > sleutels regelen @ 2024-12-01",
    ),
    Sample(
        "ata.md",
        """# Ata da reunião

Data: 2024-01-30
Participantes: Rita Sousa, Simão Reis

## Decisões
- A loja fecha às 18h

## Tarefas
- Rita Sousa - falar com o contador
""",
        "2024-01-30",
        "Rita Sousa|Simão Reis",
        "A loja fecha às 18h",
        "Rita Sousa > falar com o contador",
    ),
    Sample(
        "gijiroku.md",
        """# 定例会議 議事録

日時：2024年5月7日
参加者：田中、鈴木、佐藤

## 決定事項
- 新しい画面は六月に公開する

## 宿題
- 資料を更新する
""",
        "2024-05-07",
        "田中|鈴木|佐藤",
        "新しい画面は六月に公開する",
        " > 資料を更新する",
    ),
)

KINDS = (
    Sample(
        "wiki.txt",
        """== Mapping meeting 2019-08-24 ==

=== Participants ===
* Tove Lind
* Ugo Serra

=== Decisions ===
# Paths are drawn first
# Names come from signs

=== Action items ===
* '''Ugo Serra''': upload the photos
""",
        "2019-08-24",
        "Tove Lind|Ugo Serra",
        "Paths are drawn first|Names come from signs",
        "Ugo Serra > upload the photos",
    ),
    Sample(
        "minutes.html",
        """<html><head><title>Committee minutes</title></head><body><h1>Committee minutes</h1>
<p><strong>Date:</strong> July 2, 2024<br><strong>Present:</strong> Vito Amato, Wilma Oaks</p>
<h2>Decisions</h2><ul><li>Open on Sundays</li><li>Close the bar at ten</li></ul>
<h2>Action items</h2><table><tr><th>Task</th><th>Owner</th><th>Due</th></tr>
<tr><td>Hire a cleaner</td><td>Wilma Oaks</td><td>July 15, 2024</td></tr>
<tr><td>Repair the sign</td><td>Vito Amato</td><td></td></tr></table></body></html>
""",
        "2024-07-02",
        "Vito Amato|Wilma Oaks",
        "Open on Sundays|Close the bar at ten",
        "Wilma Oaks > Hire a cleaner @ 2024-07-15|Vito Amato > Repair the sign",
    ),
    Sample(
        "minutes.eml",
        """From: Xena Poole <xena@example.org>
To: Yann Roth <yann@example.org>
Subject: Notes from the budget meeting on 6 May 2024
Date: Wed, 08 May 2024 09:00:00 +0000
Content-Type: text/plain; charset=utf-8

Hi all,

here is what we said.

Attendees: Xena, Yann, Zack

Decisions:
* Travel is cut by a tenth

Action items:
* Yann to tell the teams by Monday
* Zack to close the old account
""",
        "2024-05-06",
        "Xena|Yann|Zack",
        "Travel is cut by a tenth",
        "Yann > tell the teams @ Monday|Zack > close the old account",
    ),
    Sample(
        "sync.org",
        """#+TITLE: Platform sync 2023-03-14
* Attendees
- Aldo
- Berit
* Decisions
- Logs are kept for thirty days
* Action items
- [ ] Berit: delete the old logs
- [X] Aldo: tell support
""",
        "2023-03-14",
        "Aldo|Berit",
        "Logs are kept for thirty days",
        "Berit > delete the old logs [ ]|Aldo > tell support [x]",
    ),
    Sample(
        "meeting.rst",
        """Release meeting
===============

:Date: 2022-12-01

Participants
------------

* Clara Noss
* Dirk Ebel

Decisions
---------

#. Version 5 is the last one for old phones

Actions
-------

* Dirk Ebel to write the announcement
""",
        "2022-12-01",
        "Clara Noss|Dirk Ebel",
        "Version 5 is the last one for old phones",
        "Dirk Ebel > write the announcement",
    ),
)

NO_MEETINGS = (
    Sample(
        "adr.md",
        """# 7. Use queues

Date: 2024-01-02

## Status
Accepted

## Deciders
- Ann Lee

## Decision
We decided to use queues.
""",
    ),
    Sample(
        "guide.md",
        """# How to run a meeting

## Attendees
Invite few people.

## Agenda
- Say hello

## Action items
- Write them down
""",
    ),
    Sample(
        "template.md",
        """# Meeting notes template

Date: YYYY-MM-DD

## Attendees
- [Name]
- [Name]

## Decisions
- ...

## Action items
- [ ] {{task}}
""",
    ),
    Sample(
        "CHANGELOG.md",
        """# Changelog

## 2.1 - 2024-05-01
- Tasks can be shared

## 2.0 - 2024-03-01
- Actions have owners
""",
    ),
    Sample(
        "todo.md",
        """# Todo

- [ ] Ann to buy milk by Friday
- [x] Ben: call home
""",
    ),
    Sample(
        "api.md",
        """# Meetings API

## Participants

| Name | Type | Description |
|---|---|---|
| id | string | Unique id |

## Actions

| Action | Description |
|---|---|
| start | Starts it |
""",
    ),
    Sample(
        "novel.txt",
        """CHAPTER I.

They agreed to meet at noon. Mr. Hale will bring the horses.

Present: none but the rain.
""",
    ),
    Sample(
        "roadmap.md",
        """# Roadmap 2024-06-01

## Decisions
- Fewer features

## Next steps
- Hire two people
""",
    ),
    Sample(
        "readme.md",
        """# Scheduler

A tool for calls.

## Contributors
- Ann Lee
- Ben Ruiz

## Tasks
- [ ] Write docs
""",
    ),
    Sample(
        "paper.txt",
        """Participants: Forty adults took part.

Conclusion: The method works.

Received 3 May 2021.
""",
    ),
)
