"""The JSON API under /api/v1/workspaces/{id}, its description, health checks and metrics."""
