from core.domain.ingest_report import Failure, IngestReport


def test_a_report_has_the_documented_json() -> None:
    report = IngestReport(added=1, updated=2, unchanged=3, removed=4, pages=5, passages=6, seconds=1.23456)
    report.failures.append(Failure(path="a.epub", reason="no reader for .epub"))
    report.warnings.append(("b.md", "an image has no text"))

    assert report.to_json() == {
        "documents": {"added": 1, "updated": 2, "unchanged": 3, "removed": 4, "failed": 1},
        "pages": 5,
        "passages": 6,
        "extracts": 0,
        "seconds": 1.235,
        "failures": [{"path": "a.epub", "reason": "no reader for .epub"}],
        "warnings": [{"path": "b.md", "warning": "an image has no text"}],
    }


def test_reports_of_several_paths_add_up() -> None:
    total = IngestReport(added=1, failures=[Failure(path="a", reason="r")], seconds=1.0)
    total.add(IngestReport(added=2, updated=1, unchanged=1, removed=1, pages=3, passages=4, extracts=5, seconds=0.5))
    total.add(IngestReport(failures=[Failure(path="b", reason="r")], warnings=[("c", "w")]))

    assert (total.added, total.updated, total.unchanged, total.removed) == (3, 1, 1, 1)
    assert (total.pages, total.passages, total.extracts, total.seconds) == (3, 4, 5, 1.5)
    assert [failure.path for failure in total.failures] == ["a", "b"]
    assert total.warnings == [("c", "w")]
