"""Fetchers of documents from other places, one for each kind of source, over the same mirror and HTTP client."""
