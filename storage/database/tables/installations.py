"""The tables of teams that installed the app, and of one-time codes."""

from datetime import datetime

from storage.database.tables.base import FootnoteTable, json_column, key_column, text_column, time_column


class InstallationRow(FootnoteTable, table=True):
    """A team that installed the app. `sealed_token` is encrypted (encryption.py); `scopes` are sorted."""

    __tablename__ = "installation"

    platform: str = key_column()
    team_id: str = key_column()
    team_name: str = text_column()
    team_url: str = text_column()
    bot_user_id: str = text_column()
    bot_id: str = text_column()
    sealed_token: str = text_column()
    scopes: list[str] = json_column()
    installed_at: datetime = time_column()
    installed_by: str = text_column()


class OneTimeCodeRow(FootnoteTable, table=True):
    """A code that was issued and not consumed yet; only its SHA-256 is kept, so that a copy of the table is no key."""

    __tablename__ = "one_time_code"

    purpose: str = key_column()
    code_hash: str = key_column()
    expires_at: datetime = time_column()
