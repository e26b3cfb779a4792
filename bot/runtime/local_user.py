"""The person at this machine: whose questions the command line asks, and up to whose reading positions it shows."""


def author_name() -> str:
    """As the operating system calls them."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no password entry and no environment: containers
        return "you"
