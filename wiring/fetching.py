"""Documents of sources from the addresses that their authors give."""

from wiring.settings import Settings


async def fetch_document(settings: Settings, address: str) -> bytes:
    """The document at ``address``: https, or http; public, or allowed by ``FOOTPATH_ALLOW_HOSTS``; ``FOOTPATH_SOURCE_BYTES`` at most.

    Up to three redirects are followed, each checked as the first address is.

    Raises:
        ForbiddenAddressError: it, or what it redirects to, may not be reached.
        UnavailableError: nothing came, or not in time. BrokenInputError: what came is no document.
    """
    from agent.execution.http.fetching import FetchLimits, fetch
    from agent.execution.http.guard import Guard

    return await fetch(address, Guard(settings.allow_hosts), FetchLimits(size=settings.source_bytes))
