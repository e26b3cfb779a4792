import pytest

from core.ingestion.texts.addresses import obsidian_link, web_address


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/a b", None),
        (" https://example.org/a ", "https://example.org/a"),
        ("http://example.org/{path}", "http://example.org/%7Bpath%7D"),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("https:///nohost", None),
        ("http://[broken", None),
        ("", None),
        (None, None),
    ],
)
def test_only_web_addresses_become_links(url: str | None, expected: str | None) -> None:
    assert web_address(url) == expected


def test_a_note_opens_in_its_vault_with_every_character_quoted() -> None:
    assert obsidian_link("My Vault", "a/b & c.md") == "obsidian://open?vault=My%20Vault&file=a%2Fb%20%26%20c"
