"""Answers whose documents changed since: noticed, marked, shown as a diff."""
