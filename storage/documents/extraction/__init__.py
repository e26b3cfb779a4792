"""Extraction from documents, by rules and by a model."""
