"""Small Office files written by hand: only the parts that a reader looks at."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_ODF = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in {
        "office": "office", "text": "text", "table": "table", "style": "style", "draw": "drawing", "meta": "meta",
        "fo": "xsl-fo-compatible",
    }.items()
)  # fmt: skip

STYLES = """
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/><w:basedOn w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My heading"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="C1"><w:name w:val="toc 1"/></w:style>
"""
NUMBERING = """
<w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%2.%3"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="8">
<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="7"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
"""


def zipped(parts: Mapping[str, str]) -> bytes:
    """A ZIP of these parts, always the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(zipfile.ZipInfo(name), text.encode(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def p(text: str, style: str = "", number: int | None = None, level: int = 0) -> str:
    """A Word paragraph of plain text."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    listed = "" if number is None else f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{named}{listed}</w:pPr>{r(text)}</w:p>"


def r(text: str) -> str:
    """A Word run of plain text."""
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def build_docx(body: str, *, title: str = "", footnotes: Mapping[int, str] | None = None) -> bytes:
    """A Word document; `body` is the XML inside w:body, `footnotes` has their XML by id."""
    parts = {"styles": STYLES, "numbering": NUMBERING}
    if footnotes:
        parts["footnotes"] = "".join(
            f'<w:footnote w:id="{place}">{xml}</w:footnote>' for place, xml in footnotes.items()
        )
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></cp:coreProperties>'
    )
    return zipped(
        {
            "[Content_Types].xml": _content_types(
                {"/word/document.xml": f"{_WORD_TYPE}.document.main+xml"}
                | {f"/word/{name}.xml": f"{_WORD_TYPE}.{name}+xml" for name in parts}
                | {"/docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml"}
            ),
            "_rels/.rels": _relations(
                {
                    "word/document.xml": f"{_OFFICE}/officeDocument",
                    "docProps/core.xml": f"{_PACKAGE}/metadata/core-properties",
                }
            ),
            "docProps/core.xml": core,
            "word/_rels/document.xml.rels": _relations({f"{name}.xml": f"{_OFFICE}/{name}" for name in parts}),
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
        | {f"word/{name}.xml": f'<w:{name} xmlns:w="{_WORD}">{xml}</w:{name}>' for name, xml in parts.items()}
    )


QUOTE = {'"': "&quot;"}


def build_xlsx(
    sheets: Mapping[str, Sequence[Sequence[object]]],
    *,
    merged: Sequence[str] = (),
    hidden: Sequence[str] = (),
    formats: Sequence[str] = (),
) -> bytes:
    """A workbook; `merged` ranges ("A1:B1") are those of the first sheet. Texts, numbers, None for an empty cell, and
    (number, style), which counts `formats` from 1; those that are numbers are the built-in ones.
    """
    names = list(sheets)
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{place}" r:id="r{place - 1}" '
        f'state="{"hidden" if name in hidden else "visible"}"/>'
        for place, name in enumerate(names, 1)
    )
    parts = {
        "[Content_Types].xml": _content_types(
            {"/xl/workbook.xml": f"{_SHEET_TYPE}.sheet.main+xml"}
            | {f"/xl/sheet{place}.xml": f"{_SHEET_TYPE}.worksheet+xml" for place in range(len(names))}
        ),
        "_rels/.rels": _relations({"xl/workbook.xml": f"{_OFFICE}/officeDocument"}),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(
            {f"sheet{place}.xml": f"{_OFFICE}/worksheet" for place in range(len(names))}
        ),
    }
    if formats:
        parts["xl/styles.xml"] = _styles(formats)
    for place, rows in enumerate(sheets.values()):
        ranges = "".join(f'<mergeCell ref="{item}"/>' for item in merged) if place == 0 else ""
        parts[f"xl/sheet{place}.xml"] = (
            f'<worksheet xmlns="{_SHEET}"><sheetData>{"".join(map(_row, range(1, len(rows) + 1), rows))}</sheetData>'
            f"{f'<mergeCells>{ranges}</mergeCells>' if ranges else ''}</worksheet>"
        )
    return zipped(parts)


def build_ods(rows: Sequence[Sequence[object]], name: str = "Sheet1") -> bytes:
    """An OpenDocument spreadsheet of one sheet."""
    cells = "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
    body = f'<office:spreadsheet><table:table table:name="{name}">{cells}</table:table></office:spreadsheet>'
    return _odf("spreadsheet", {"content.xml": _content(body)})


def build_odt(body: str, *, styles: str = "", title: str = "") -> bytes:
    """An OpenDocument text; `body` is the XML inside office:text, `styles` that of its automatic styles."""
    meta = (
        f'<office:document-meta {_ODF} xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<office:meta><dc:title>{escape(title)}</dc:title></office:meta></office:document-meta>"
    )
    return _odf("text", {"content.xml": _content(f"<office:text>{body}</office:text>", styles), "meta.xml": meta})


def _odf(kind: str, parts: Mapping[str, str]) -> bytes:
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            **parts,
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{manifest}"/>',
        }
    )


def _content(body: str, styles: str = "") -> str:
    return (
        f"<office:document-content {_ODF}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body>{body}</office:body></office:document-content>"
    )


def _ods_cell(value: object) -> str:
    if isinstance(value, int | float):
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
    said = "" if value is None else f"<text:p>{escape(str(value))}</text:p>"
    return f'<table:table-cell office:value-type="string">{said}</table:table-cell>'


def _row(number: int, cells: Sequence[object]) -> str:
    written = "".join(_cell(f"{chr(65 + column)}{number}", value) for column, value in enumerate(cells))
    return f'<row r="{number}">{written}</row>'


def _styles(formats: Sequence[str]) -> str:
    own = {code: 164 + place for place, code in enumerate(formats) if not code.isdigit()}
    codes = "".join(f'<numFmt numFmtId="{number}" formatCode="{escape(code, QUOTE)}"/>' for code, number in own.items())
    styles = "".join(f'<xf numFmtId="{own.get(code, code)}"/>' for code in ["0", *formats])
    return f'<styleSheet xmlns="{_SHEET}"><numFmts>{codes}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>'


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        number, style = value
        return f'<c s="{style}" r="{place}"><v>{number}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def _content_types(types: Mapping[str, str]) -> str:
    known = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    parts = "".join(f'<Override PartName="{part}" ContentType="{kind}"/>' for part, kind in types.items())
    return f'<Types xmlns="{_TYPES}">{known}<Default Extension="xml" ContentType="application/xml"/>{parts}</Types>'


def _relations(targets: Mapping[str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="r{place}" Type="{kind}" Target="{target}"/>'
        for place, (target, kind) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="{_PACKAGE}">{listed}</Relationships>'
