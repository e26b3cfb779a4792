"""The local user: author of the command line's questions, and reader of its pages."""


def author_name() -> str:
    """Return the user's name in the operating system."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no password entry and no environment: containers
        return "you"
