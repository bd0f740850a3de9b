"""Client for requests to token servers, with the same address guard as calls."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.execution.exchange import Exchange
from wiring.settings import Settings


@asynccontextmanager
async def open_exchange(settings: Settings) -> AsyncGenerator[Exchange]:
    """Yield a client that connects when first used; it is closed at the end."""
    from agent.execution.http.exchange import GuardedExchange
    from agent.execution.http.guard import Guard

    exchange = GuardedExchange(Guard(settings.allow_hosts))
    try:
        yield exchange
    finally:
        await exchange.close()
