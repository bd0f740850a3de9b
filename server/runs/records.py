"""Stored events, read: in a thread, since the answers in them may be long."""

import asyncio
from collections.abc import Sequence

from domain.event import EventRecord, RunFinished
from server.storage.events import StoredEvent


async def records_of(events: Sequence[StoredEvent]) -> list[EventRecord]:
    """What they tell, in their order."""
    return await asyncio.to_thread(_read, events)


def _read(events: Sequence[StoredEvent]) -> list[EventRecord]:
    return [EventRecord.model_validate_json(event.body) for event in events]


def reasoned(record: EventRecord, why: str) -> EventRecord:
    """The end of a run that was ended, with why; any other event, or where there is nothing to say, as it is."""
    event = record.event
    if not why or not isinstance(event, RunFinished) or event.outcome != "cancelled":
        return record
    return record.model_copy(update={"event": event.model_copy(update={"error": why})})
