"""docs/architecture.md shows the packages as they are."""

from tests.pictures.packages import PAGE, draw, package_imports, with_picture, without_shortcuts

MOST_LINES = 200


def test_picture_shows_the_packages_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_picture(page, draw(without_shortcuts(package_imports()))), (
        "run `python -m tests.pictures.packages`"
    )


def test_page_stays_short() -> None:
    assert PAGE.read_text(encoding="utf-8").count("\n") <= MOST_LINES


def test_shortcuts_are_left_out() -> None:
    imports = {"a": {"b", "c"}, "b": {"c"}, "c": set[str]()}
    assert without_shortcuts(imports) == {"a": {"b"}, "b": {"c"}, "c": set()}
