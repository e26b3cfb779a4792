"""Runs extractors over documents: by rules, by a model, and what is checked before it is stored."""
