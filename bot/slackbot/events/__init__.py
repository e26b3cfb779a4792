"""Input from Slack: connections, teams, people, and events translated for core."""
