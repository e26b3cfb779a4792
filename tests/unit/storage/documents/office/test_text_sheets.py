from pathlib import Path

import pytest

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.base import HEAD_BYTES, build_readers, find_reader

PAGE = "<html><head><meta charset=utf-8></head><body><table><tr><th>Pier<th>Fare<tr><td>Später<td>4.50</table></body>"
PLAIN = "Pier\tFare\nSpäter\t4.50\nLinden\t3.10\n"
XML = """<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:x="urn:schemas-microsoft-com:office:excel"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Worksheet ss:Name="Fares"><Table>
<Row><Cell><Data ss:Type="String">Pier</Data></Cell><Cell><Data ss:Type="String">From</Data></Cell>
 <Cell><Data ss:Type="String">Fare</Data></Cell></Row>
<Row><Cell ss:MergeDown="1"><Data ss:Type="String">Später</Data></Cell>
 <Cell><Data ss:Type="DateTime">2031-03-14T00:00:00.000</Data></Cell>
 <Cell><Data ss:Type="Number">4.5</Data></Cell></Row>
<Row><Cell ss:Index="3"><Data ss:Type="Number">3.1</Data></Cell></Row>
<Row ss:Index="6">
 <Cell><ss:Data ss:Type="String">See <B xmlns="http://www.w3.org/TR/REC-html40">note</B></ss:Data></Cell></Row>
</Table></Worksheet>
<Worksheet ss:Name="Old"><Table><Row><Cell><Data ss:Type="String">secret</Data></Cell></Row></Table>
<WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">
<Visible>SheetHidden</Visible></WorksheetOptions></Worksheet>
</Workbook>"""


def read(text: str, folder: Path, encoding: str = "utf-8") -> ParsedDocument:
    path = folder / "fares.xls"
    path.write_bytes(text.encode(encoding))
    return find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers()).read(path, folder)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("front", ["", "\n\n", "<!-- made by x -->\n", '<?xml version="1.0"?>\n'])
def test_a_web_page_under_the_name_of_a_workbook_is_read_as_one(front: str, encoding: str, tmp_path: Path) -> None:
    document = read(front + PAGE, tmp_path, encoding)
    assert (document.kind, document.pages[0].text) == ("html", "Pier\tFare\nSpäter\t4.50")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("delimiter", ["\t", ";", ","])
def test_plain_text_under_the_name_of_a_workbook_is_read_as_a_table(
    delimiter: str, encoding: str, tmp_path: Path
) -> None:
    document = read(PLAIN.replace("\t", delimiter), tmp_path, encoding)
    assert document.kind == "csv"
    assert f"Später{delimiter}4.50" in document.pages[0].text


def test_excels_xml_has_its_sheets_as_pages(tmp_path: Path) -> None:
    document = read(XML, tmp_path)
    assert document.kind == "spreadsheet"
    assert [(page.title, page.text) for page in document.pages] == [
        (
            "Fares",
            "| Pier | From | Fare |\n| --- | --- | --- |\n| Später | 2031-03-14 | 4.5 |\n| Später |  | 3.1 |\n\n"
            "See note",
        )
    ]
    assert document.warnings == ("hidden sheet left out: 'Old'",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Dear all,\nnothing is in columns here\nor there", "no reader for this XLS file: not a web page nor a table"),
        ("<svg><path/></svg>", "no reader for this XLS file"),
        ("\x00\x01\x02\x03" * 40, "no reader for this XLS file"),
        (XML[:700], "corrupt: 'Workbook' of the spreadsheet can't be read"),
    ],
)
def test_what_is_no_table_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=reason):
        read(text, tmp_path)


def test_places_that_are_claimed_beyond_all_bounds_take_no_memory(tmp_path: Path) -> None:
    far = XML.replace('ss:Index="6"', 'ss:Index="9999999"').replace('ss:MergeDown="1"', 'ss:MergeAcross="9999999"')
    document = read(far.replace('ss:Index="3"', 'ss:Index="9999999"'), tmp_path)
    assert document.pages[0].text.endswith("See note")
    rows = "<Row><Cell ss:Index='16384'><Data>x</Data></Cell></Row>" * 1_300
    with pytest.raises(ReadError, match="too large: a sheet of more than 20,000,000 cells"):
        read(XML.replace("</Table>", f"{rows}</Table>", 1), tmp_path)
