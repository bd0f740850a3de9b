"""The API's document, made once for a test process: making it takes longer than most tests."""

from functools import cache
from typing import Any

from server.app import create_app


@cache
def api_document() -> dict[str, Any]:
    """As ``/openapi.json`` gives it. Not to be changed."""
    return create_app().openapi()
