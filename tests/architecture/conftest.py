"""Memory that these tests share and give back."""

from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import parsed


@pytest.fixture(scope="package", autouse=True)
def _syntax_trees() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Drop the trees of all files after the last of these tests: they are millions of objects, which slow every later garbage collection."""
    yield
    parsed.cache_clear()
