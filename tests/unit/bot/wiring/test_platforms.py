"""Where a footnote leads when it is read on a platform elsewhere."""

from pathlib import Path

import pytest

from bot.config import Config
from bot.config.sections import WebConfig
from bot.wiring.platforms import link_maker, own_address
from core.domain.conversation import ThreadAddress
from tests.builders import build_citation
from tests.fakes import ManualClock

THREAD = ThreadAddress(platform="discord", workspace="team", channel="1", thread="2")


@pytest.mark.parametrize("url", ["https://example.org/a", "http://example.org/a"])
def test_a_document_on_the_web_has_its_own_address(url: str) -> None:
    assert own_address(build_citation(url=url)) == url


@pytest.mark.parametrize("url", [None, "", "obsidian://open?vault=v", "file:///notes/a.md", "javascript:alert(1)"])
def test_what_no_browser_should_open_is_no_address(url: str | None) -> None:
    assert own_address(build_citation(url=url)) is None


def test_without_a_public_address_a_footnote_never_leads_to_this_machine(tmp_path: Path) -> None:
    link = link_maker(Config(data_dir=tmp_path), ManualClock())
    assert link(build_citation(url=None), THREAD) is None
    assert link(build_citation(url="https://example.org/a"), THREAD) == "https://example.org/a"


def test_with_a_public_address_a_footnote_leads_to_the_source_viewer(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path, web=WebConfig(public_url="https://notes.example"))
    found = link_maker(config, ManualClock())(build_citation(url="https://example.org/a"), THREAD)
    assert found is not None
    assert found.startswith("https://notes.example/s/")
