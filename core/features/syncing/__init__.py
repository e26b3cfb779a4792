"""Where documents come from, and how they are kept in step."""
