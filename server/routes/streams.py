"""Stored events as server-sent events (WHATWG HTML, 9.2): numbered, so that a client that comes back goes on where it was."""

from collections.abc import AsyncGenerator

from fastapi.responses import StreamingResponse

from agent.scheduler import closing
from server.storage.run_records import StoredEvent

MEDIA_TYPE = "text/event-stream"
_BREAKS = str.maketrans({break_: f"\\u{ord(break_):04x}" for break_ in "\x85\u2028\u2029"})
"""What JSON leaves as it is in texts, and some readers of lines take for the end of one."""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def sent(events: AsyncGenerator[StoredEvent | None]) -> StreamingResponse:
    """The answer that sends them; a comment where there is nothing new, so that nobody in between hangs up."""
    return StreamingResponse(_lines(events), media_type=MEDIA_TYPE, headers=_HEADERS)


async def _lines(events: AsyncGenerator[StoredEvent | None]) -> AsyncGenerator[str]:
    yield "retry: 1000\n\n"
    async with closing(events):
        async for event in events:
            yield _line(event) if event else ": still here\n\n"


def _line(event: StoredEvent) -> str:
    """JSON text has no line breaks of its own, but for those in ``_BREAKS``."""
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {event.body.translate(_BREAKS)}\n\n"
