"""A file of every kind that office programs write, each with headings, a list, a table and letters beyond ASCII."""

import io

from pptx import Presentation
from pptx.util import Inches

from tests.unit.storage.documents.office_files import build_docx, build_ods, build_odt, build_xlsx, p, r

CSV = 'pier;boat;fare\n1;"Anna; the old one";4\n2;"Später\nmehr";5\n3;"She said ""go""";6\n'
RTF = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}
{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}{\s9 Title;}{\*\cs10 Default;}{\s11 toc 1;}}
{\info{\title Ferries}{\author Ann}}{\header On every page}
\pard\plain\s1 Ferry\par
\pard Sp\'e4ter {\b mehr}: \u26085?\u26412?, \f1\'cf\'f0\'e8\f0 .{\footnote \pard Only in\par summer.}
\par
{\listtext\pard\plain\f0 \'b7\tab}\pard\ilvl0 a boat\par{\listtext 2)\tab}\pard {\v not shown}a pier\par
\pard\s1 Fares\par
\trowd\cellx1000\cellx2000\pard\intbl who\cell fare\cell\row
\trowd\clvmgf\cellx1000\cellx2000\pard\intbl adult\par or two\cell 4|5\cell\row
\trowd\clvmrg\cellx1000\cellx2000\pard\intbl\cell 6\cell\row
\pard\s2 After\par\pard {\*\unknown left out}{\pict 00ff}The end.\par}"""

_DOCX_TABLE = (
    "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>"
    '<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{}</w:tc><w:tc>{}</w:tc></w:tr>'
    "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc>{}</w:tc></w:tr></w:tbl>"
)
DOCX = build_docx(
    p("Ferry", "T")
    + p("Times", "H1")
    + f'<w:p>{r("It sails at seven. Später mehr.")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    + p("a boat", number=2)
    + p("a pier", number=1)
    + p("Fares", "H1")
    + _DOCX_TABLE.format(p("who"), p("fare"), p("adult"), p("4|5"), p("6")),
    footnotes={2: p("Only in summer.")},
)
ODT = build_odt(
    '<text:h text:outline-level="1">Ferry</text:h><text:p>It sails<text:s text:c="2"/>at <text:span>seven</text:span>.'
    "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Später.</text:p></text:note-body>"
    "</text:note></text:p><text:list><text:list-item><text:p>a boat</text:p></text:list-item></text:list>"
    '<text:h text:outline-level="1">Fares</text:h><table:table><table:table-header-rows><table:table-row>'
    "<table:table-cell><text:p>who</text:p></table:table-cell><table:table-cell><text:p>fare</text:p></table:table-cell>"
    "</table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>adult</text:p>"
    "</table:table-cell><table:table-cell><text:p>4</text:p></table:table-cell></table:table-row></table:table>"
)
SHEET: list[list[object]] = [["Fares of the ferry"], [], ["who", "fare"], ["adult", 4], ["Kind | später", 2.5]]


def build_pptx() -> bytes:
    presentation = Presentation()
    first = presentation.slides.add_slide(presentation.slide_layouts[1])
    first.shapes.title.text = "Ferry"
    frame = first.placeholders[1].text_frame
    frame.text = "It sails at seven."
    frame.add_paragraph().text = "Später mehr."
    first.notes_slide.notes_text_frame.text = "Say hello."
    presentation.slides.add_slide(presentation.slide_layouts[6])
    third = presentation.slides.add_slide(presentation.slide_layouts[5])
    third.shapes.title.text = "Fares"
    table = third.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    for place, text in enumerate(["who", "fare", "adult", "4|5"]):
        table.cell(place // 2, place % 2).text = text
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


SAMPLES = {
    "fares.csv": CSV.encode(),
    "fares.tsv": CSV.replace(";", "\t").encode("utf-16"),
    "fares.xlsx": build_xlsx({"Fares": SHEET, "Empty": [], "More": [["a"], ["b"]]}),
    "fares.ods": build_ods(SHEET),
    "ferry.docx": DOCX,
    "ferry.odt": ODT,
    "ferry.rtf": RTF,
    "ferry.pptx": build_pptx(),
}
