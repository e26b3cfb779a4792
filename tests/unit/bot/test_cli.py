import pytest

from bot.cli import hoist_globals


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["ask", "why?", "--json"], ["--json", "ask", "why?"]),
        (["ask", "--data-dir", "d", "why?"], ["--data-dir", "d", "ask", "why?"]),
        (["jobs", "list", "--workspace=w", "--json"], ["--workspace=w", "--json", "jobs", "list"]),
        (["search", "--", "--json"], ["search", "--", "--json"]),
        (["export", "--format", "json"], ["export", "--format", "json"]),
        (["ask", "--config"], ["--config", "ask"]),
    ],
)
def test_global_options_may_stand_anywhere_before_a_double_dash(given: list[str], wanted: list[str]) -> None:
    assert hoist_globals(given) == wanted
