"""The index of passages: one query, described once, and the engines that run it."""
