"""Rows of sources to what they say, and back."""

from typing import Any

from server.storage.rows.sources import SourceReadingRow, SourceRow, SourceStepRow, SourceToolRow
from server.storage.sources.models import Before, KeptTool, Reading, Source, SourceUse, Step

_OWN = frozenset(Source.model_fields) - {"author", "checking"}
_WRITTEN = _OWN - {"id", "author_id", "created_at"}


def source_of(row: SourceRow, author: str | None) -> Source:
    """The source in a row."""
    given = {name: getattr(row, name) for name in _OWN}
    return Source.model_validate(given | {"author": author or "", "checking": row.check_worker is not None})


def use_of(row: SourceRow) -> SourceUse:
    """Who may use it."""
    return SourceUse.model_validate({name: getattr(row, name) for name in SourceUse.model_fields})


def put_source(row: SourceRow, source: Source) -> None:
    """Write what a step may change of it. Who checks it is written elsewhere."""
    given = source.model_dump(mode="python", include=set(_WRITTEN))
    given["changes"] = [one.model_dump(mode="json") for one in source.changes]
    given["credentials"] = [one.model_dump(mode="json") for one in source.credentials]
    given["operations"] = source.operations.model_dump(mode="json")
    given |= {"roles": list(source.roles), "users": list(source.users), "notes": list(source.notes)}
    for name, value in given.items():
        setattr(row, name, value)


def new_source_row(source: Source) -> SourceRow:
    """A row for a new one."""
    row = SourceRow(id=source.id, author_id=source.author_id, created_at=source.created_at)
    put_source(row, source)
    return row


def tool_of(row: SourceToolRow) -> KeptTool:
    """The tool in a row."""
    return KeptTool.model_validate({name: getattr(row, name) for name in KeptTool.model_fields})


def put_tool(row: SourceToolRow, tool: KeptTool) -> None:
    """Write all of it."""
    given: dict[str, Any] = tool.model_dump(mode="json", exclude={"tool", "original", "offer"})
    given["original"] = tool.original.model_dump(mode="json", exclude_defaults=True)
    given["offer"] = None if tool.offer is None else tool.offer.model_dump(mode="json", exclude_defaults=True)
    for name, value in given.items():
        setattr(row, name, value)
    row.offered_as = tool.offer.id if tool.offer is not None else None


def reading_of(row: SourceReadingRow) -> Reading:
    """What was read."""
    return Reading.model_validate({name: getattr(row, name) for name in Reading.model_fields})


def reading_row(source_id: str, reading: Reading) -> SourceReadingRow:
    """A row for a new one."""
    return SourceReadingRow(
        source_id=source_id,
        version=reading.version,
        digest=reading.digest,
        raw=reading.raw,
        documents=[doc.model_dump(mode="json", exclude_defaults=True) for doc in reading.documents],
        skipped=list(reading.skipped),
        at=reading.at,
    )


def step_of(row: SourceStepRow) -> Step:
    """What was done."""
    given = {name: getattr(row, name) for name in Step.model_fields if name != "undoable"}
    return Step.model_validate(given | {"undoable": row.before is not None and not row.undone})


def before_of(row: SourceStepRow) -> Before | None:
    """What it found."""
    return None if row.before is None else Before.model_validate(row.before)
