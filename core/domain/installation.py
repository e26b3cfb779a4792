"""An app of ours in somebody's team: what we hold to act there."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One team that installed the app, in their browser. `token` acts as the bot there: it is a secret.

    `team_id`, `bot_user_id` and `bot_id` are the platform's. `scopes` are what the team granted.
    """

    platform: str
    team_id: str
    team_name: str
    team_url: str  # "https://acme.slack.com/", or empty
    bot_user_id: str
    bot_id: str
    token: str = field(repr=False)
    scopes: frozenset[str] = frozenset()
    installed_at: datetime
    installed_by: str  # the person's id on the platform
