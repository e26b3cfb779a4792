"""Starts a program whose slack_sdk talks to a test server: `python -m tests.slack_launch MODULE ARGS...`

The program is not changed, and of the tests it loads this file alone. The address comes from FOOTNOTE_TEST_SLACK_API,
as in "http://127.0.0.1:1234/api/"; a client that was given another address keeps it.
"""

import functools
import os
import runpy
import sys
from typing import Any

from slack_sdk.web.async_base_client import AsyncBaseClient
from slack_sdk.web.base_client import BaseClient

API_VARIABLE = "FOOTNOTE_TEST_SLACK_API"


def redirect() -> None:
    """The address is a default argument of the constructors, bound when they were defined."""
    address = os.environ[API_VARIABLE]
    for kind in (AsyncBaseClient, BaseClient):
        kind.__init__ = _redirected(kind.__init__, kind.BASE_URL, address)  # type: ignore[method-assign]
        kind.BASE_URL = address


def _redirected(constructor: Any, usual: str, address: str) -> Any:
    @functools.wraps(constructor)
    def construct(self: Any, token: str | None = None, base_url: str = usual, *more: Any, **options: Any) -> None:
        constructor(self, token, address if base_url == usual else base_url, *more, **options)

    return construct


def main() -> None:
    redirect()
    _, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
