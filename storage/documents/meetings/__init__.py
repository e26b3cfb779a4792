"""Notes of meetings: attendees, decisions, action items."""
