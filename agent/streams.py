"""Closing what streams: an abandoned async generator must not linger until it is collected."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar, cast

T = TypeVar("T")


@asynccontextmanager
async def closing(source: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T], None]:
    """The iterator itself; closed at the end of the block where it is a generator."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await cast("AsyncGenerator[T, None]", source).aclose()
