from storage.documents.run import obsidian_link


def test_an_obsidian_link_quotes_every_character_of_vault_and_path() -> None:
    assert obsidian_link("My Vault", "a/b & c.md") == "obsidian://open?vault=My%20Vault&file=a%2Fb%20%26%20c"
