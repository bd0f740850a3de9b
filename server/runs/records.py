"""Stored events, read: in a thread, since the answers in them may be long."""

import asyncio
from collections.abc import Sequence

from domain.event import EventRecord
from server.storage.events import StoredEvent


async def records_of(events: Sequence[StoredEvent]) -> list[EventRecord]:
    """What they tell, in their order."""
    return await asyncio.to_thread(_read, events)


def _read(events: Sequence[StoredEvent]) -> list[EventRecord]:
    return [EventRecord.model_validate_json(event.body) for event in events]
