import pkgutil
from importlib import import_module

import storage.database.tables
from storage.database.tables import FootnoteTable


def test_every_table_is_among_those_that_come_together() -> None:
    """One that is left out would be missing in migrations, and in tests that empty a database."""
    modules = [
        import_module(found.name)
        for found in pkgutil.iter_modules(storage.database.tables.__path__, "storage.database.tables.")
    ]
    declared = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, FootnoteTable)
    }

    assert len(declared) > 20
    assert declared == set(storage.database.tables.__all__)
