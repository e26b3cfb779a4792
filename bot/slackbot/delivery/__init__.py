"""Output to Slack: posts, streamed drafts, and the places they go to."""
