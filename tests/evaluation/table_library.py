"""A small library of tables in sheets, CSV, PDF and HTML: `python -m tests.evaluation.table_library FOLDER`.

Questions about it are in table_questions.jsonl and table_questions_fresh.jsonl, with the figure expected of each.
"""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.unit.storage.documents.office_files import build_ods, build_xlsx
from tests.unit.storage.documents.pdf_files import Piece, build_pdf

Rows = Sequence[Sequence[object]]

TOOLS: Rows = [
    ["Tool", "Depot", "Day rate (EUR)", "Days hired", "Deposit (EUR)"],
    ["Belt sander", "Kilnsea", 14, 61, 40],
    ["Cement mixer", "Aldwick", 32, 118, 150],
    ["Core drill", "Kilnsea", 45.5, 37, 200],
    ["Floor polisher", "Aldwick", 27, 44, 90],
    ["Hedge trimmer", "Moss Lane", 18, 139, 60],
    ["Log splitter", "Moss Lane", 58, 52, 250],
    ["Pressure washer", "Aldwick", 24.5, 203, 80],
    ["Stump grinder", "Moss Lane", 95, 19, 400],
    ["Tile cutter", "Kilnsea", 16, 88, 50],
    ["Trench spade", "Kilnsea", 6, 27, 10],
]
DEPOTS: Rows = [
    ["Depot", "Manager", "Opened", "Staff", "Floor area (m2)"],
    ["Aldwick", "Ruth Bellamy", 2009, 7, 640],
    ["Kilnsea", "Owen Tarrant", 2016, 4, 310],
    ["Moss Lane", "Ines Carvalho", 1998, 9, 875],
]
ENERGY: Rows = [
    ["Month", "Library (kWh)", "Town hall (kWh)", "Swimming pool (kWh)"],
    ["January", 4210, 6890, 22140],
    ["February", 3985, 6420, 21075],
    ["March", 3720, 5980, 20310],
    ["April", 3105, 4870, 18450],
    ["May", 2760, 4115, 17225],
    ["June", 2595, 3890, 16880],
    ["Total", 20375, 32165, 116080],
]
REGATTA: Rows = [
    ["Boat", "Class", "Club", "Sail number", "Elapsed (min)", "Points"],
    ["Brisk", "Wayfarer", "Orford", 4417, 96.4, 1],
    ["Calypso", "Dart", "Blyth", 1020, 71.2, 2],
    ["Dunlin", "Wayfarer", "Blyth", 9931, 104.8, 4],
    ["Fulmar", "Dart", "Orford", 1188, 69.9, 1],
    ["Jackdaw", "Lark", "Waldring", 2051, 88.3, 1],
    ["Merganser", "Wayfarer", "Waldring", 7702, 99.1, 2],
    ["Nightjar", "Lark", "Orford", 2240, 93.7, 3],
    ["Petrel", "Dart", "Waldring", 1311, 78.5, 4],
    ["Redshank", "Lark", "Blyth", 2117, 90.6, 2],
    ["Sandpiper", "Wayfarer", "Orford", 8124, 101.0, 3],
    ["Whimbrel", "Dart", "Blyth", 1402, 74.4, 3],
]
INVOICES: Rows = [
    ["Invoice", "Customer", "Issued", "Amount", "Status"],
    ["F-2201", "Harlow Bakery", "2025-01-09", "1,240.00 EUR", "paid"],
    ["F-2202", "Pinewood School", "2025-01-17", "860.50 GBP", "paid"],
    ["F-2203", "Lindqvist AB", "2025-02-03", "12,400.00 SEK", "open"],
    ["F-2204", "Harlow Bakery", "2025-02-20", "310.75 EUR", "open"],
    ["F-2205", "Castell Motors", "2025-03-04", "2,975.00 EUR", "paid"],
    ["F-2206", "Pinewood School", "2025-03-11", "415.00 GBP", "overdue"],
]
INCOME: Rows = [
    ["", "2024", "2023", "2022"],
    ["Membership fees", "48,310", "45,120", "42,880"],
    ["Shop sales", "17,645", "19,230", "15,010"],
    ["Grants received", "22,000", "12,500", "9,750"],
    ["Total income", "87,955", "76,850", "67,640"],
    ["Wages", "(39,480)", "(37,215)", "(35,900)"],
    ["Rent and rates", "(14,260)", "(13,800)", "(13,150)"],
    ["Repairs", "(6,035)", "(9,410)", "(4,275)"],
    ["Total expenses", "(59,775)", "(60,425)", "(53,325)"],
    ["Surplus for the year", "28,180", "16,425", "14,315"],
]
BALANCE: Rows = [
    ["", "2024", "2023"],
    ["Cash at bank", "61,402", "38,715"],
    ["Stock of the shop", "5,240", "6,118"],
    ["Buildings", "120,000", "124,500"],
    ["Total assets", "186,642", "169,333"],
    ["Bank loan", "31,500", "42,000"],
    ["Trade creditors", "3,218", "3,589"],
    ["Total liabilities", "34,718", "45,589"],
]
TRAILS: Rows = [
    ["Trail", "Valley", "Length", "Ascent", "Grade"],
    ["Heron Loop", "Eskmere", "7.2 km", "180 m", "easy"],
    ["Raven Ridge", "Corrin", "14.6 km", "940 m", "hard"],
    ["Miller's Way", "Eskmere", "11.3 km", "265 m", "moderate"],
    ["Slate Steps", "Corrin", "5.9 km", "610 m", "hard"],
    ["Juniper Traverse", "Lorne", "18.4 km", "1,120 m", "hard"],
    ["Otter Path", "Lorne", "4.1 km", "60 m", "easy"],
]
HUTS: Rows = [
    ["Hut", "Beds", "Price per night", "Warden"],
    ["Corrin Hut", "24", "£18.50", "yes"],
    ["Eskmere Bothy", "8", "£6.00", "no"],
    ["Lorne Refuge", "36", "£22.00", "yes"],
    ["Slate Shelter", "6", "£0.00", "no"],
]


def build_library() -> Mapping[str, bytes]:
    """Return the files by their paths."""
    return {
        "hire/tool hire 2025.xlsx": build_xlsx({"Rentals": TOOLS, "Depots": DEPOTS}),
        "council/electricity 2024.ods": build_ods(ENERGY, "Electricity"),
        "sailing/autumn regatta.csv": _csv(REGATTA),
        "office/invoices.csv": _csv(INVOICES),
        "society/accounts 2024.pdf": _accounts(),
        "walks/trails and huts.html": _walks(),
    }


def _csv(rows: Rows) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _accounts() -> bytes:
    title = "Hollin Bridge Garden Society: accounts for 2024"
    opening = [(60.0, 740.0, title), (60.0, 715.0, "All figures in pounds.")]
    income = [*opening, (60.0, 680.0, "Income statement"), *_aligned(INCOME, 655)]
    balance = [(60.0, 740.0, "Balance sheet at 31 December"), *_aligned(BALANCE, 715)]
    return build_pdf([income, balance], title=title)


def _aligned(rows: Rows, top: float) -> list[Piece]:
    """Return the cells of a table without lines, its figures aligned at their right."""
    pieces: list[Piece] = []
    for place, (label, *figures) in enumerate(rows):
        y = top - 20 * place
        pieces += [(60.0, y, str(label))] if label else []
        pieces += [(330.0 + 80 * column - 6 * len(str(text)), y, str(text)) for column, text in enumerate(figures)]
    return pieces


def _walks() -> bytes:
    body = f"<h1>Trails and huts</h1><h2>Trails</h2>{_table(TRAILS)}<h2>Huts</h2>{_table(HUTS)}"
    return f"<html><head><title>Trails and huts</title></head><body>{body}</body></html>".encode()


def _table(rows: Rows) -> str:
    head, *body = (
        "".join(f"<{tag}>{cell}</{tag}>" for cell in row) for row, tag in zip(rows, _tags(rows), strict=True)
    )
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in body)}</table>"


def _tags(rows: Rows) -> list[str]:
    return ["th", *["td"] * (len(rows) - 1)]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, data in build_library().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
