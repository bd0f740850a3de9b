"""Events as the server sends them."""

from datetime import UTC, datetime

import orjson

from domain.event import Event, EventRecord
from ui.stream import Told


def told(seq: int, event: Event, subtask: int = 1) -> Told:
    record = EventRecord(run="r", seq=seq, at=datetime(2026, 1, 2, tzinfo=UTC), subtask=subtask, event=event)
    return Told(seq, event.kind, record.model_dump_json())


def raw(seq: int, event: dict[str, object]) -> Told:
    """One that this version need not know."""
    body = {"run": "r", "seq": seq, "at": "2026-01-02T00:00:00Z", "subtask": 1, "event": event}
    return Told(seq, str(event.get("kind", "")), orjson.dumps(body).decode())
