"""PowerPoint presentations."""

from pathlib import Path

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from core.errors import ReadError
from storage.documents.readers.pptx import PptxReader
from tests.unit.storage.documents.office_samples import build_pptx


def test_a_page_is_a_slide_with_its_points_and_notes(tmp_path: Path) -> None:
    path = tmp_path / "ferry.pptx"
    path.write_bytes(build_pptx())
    document = PptxReader().read(path, tmp_path)
    assert document.title == "Ferry"
    assert [(page.number, page.title) for page in document.pages] == [(1, "Ferry"), (3, "Fares")]
    assert document.pages[0].text == "Ferry\n\n- It sails at seven.\n- Später mehr.\n\nNotes: Say hello."
    assert document.warnings == ("no text on slide 2",)


def test_merged_cells_groups_and_the_numbers_of_a_chart_are_read(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text, table.cell(1, 1).text = "who", "fare", "4"
    table.cell(0, 0).merge(table.cell(1, 0))
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in a group"
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["East", "West"]
    data.add_series("2024", (19.2, None))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    presentation.save(str(tmp_path / "a.pptx"))
    assert PptxReader().read(tmp_path / "a.pptx", tmp_path).pages[0].text.split("\n\n") == [
        "| who | fare |\n| --- | --- |\n| who | 4 |",
        "in a group",
        "|  | 2024 |\n| --- | --- |\n| East | 19.2 |\n| West |  |",
    ]


def test_slides_without_text_are_refused(tmp_path: Path) -> None:
    presentation = Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[6])
    presentation.save(str(tmp_path / "a.pptx"))
    with pytest.raises(ReadError, match="empty: no slide has text"):
        PptxReader().read(tmp_path / "a.pptx", tmp_path)


def test_a_chart_of_a_kind_that_the_library_does_not_know_is_read_from_its_xml(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["East", "West", "North"]
    data.add_series("2024", (19.2, None, 4))  # type: ignore[no-untyped-call]
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    plot = next(frame.chart.element.iter("{http://schemas.openxmlformats.org/drawingml/2006/chart}barChart"))
    plot.tag = plot.tag.replace("barChart", "bar3DChart")
    slide.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "beside it"
    presentation.save(str(tmp_path / "a.pptx"))
    assert PptxReader().read(tmp_path / "a.pptx", tmp_path).pages[0].text.split("\n\n") == [
        "|  | 2024 |\n| --- | --- |\n| East | 19.2 |\n| West |  |\n| North | 4 |",
        "beside it",
    ]
