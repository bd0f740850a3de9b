"""Memory that these tests share and give back."""

from pathlib import Path

import pytest

from tests.support.source_tree import parsed


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Drop the trees of all files after the last of these tests: millions of objects, which slow every later garbage collection."""
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        parsed.cache_clear()
