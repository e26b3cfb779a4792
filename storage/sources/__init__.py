"""What brings documents from elsewhere: one fetcher a kind of source, over the same mirror and the same web."""
