"""Descriptions of APIs: OpenAPI's, and those in prose."""
