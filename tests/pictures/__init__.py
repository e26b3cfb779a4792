"""The pictures of docs: the web chat (`python -m tests.pictures`) and Discord (`python -m tests.pictures.discord`)."""
