"""What of sources is offered, and to whom: what the graph is made to follow."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from domain.tool import ToolDoc, ToolId
from server.storage.database import Database
from server.storage.rows.sources import SourceRow, SourceToolRow
from server.storage.sources.mapping import use_of
from server.storage.sources.models import Offered, SourceUse

_AT_ONCE = 500


class OfferedTools:
    """Those of a database. Only what is admitted, of sources that are there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[Offered]:
        """Every tool that is offered, with its document as it is offered."""
        return await self._found(SourceToolRow.offered_as.is_not(None))

    async def of(self, tools: Collection[ToolId]) -> list[Offered]:
        """Those of these that are offered."""
        ids = sorted(tools)
        parts = [ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE)]
        return [one for part in parts for one in await self._found(SourceToolRow.offered_as.in_(part))]

    async def _found(self, which: ColumnElement[bool]) -> list[Offered]:
        columns = (SourceToolRow.source_id, SourceToolRow.offer)
        chosen = select(*columns).where(which).order_by(SourceToolRow.offered_as)

        def found(session: Session) -> list[Offered]:
            return [Offered(source_id=one, doc=ToolDoc.model_validate(doc)) for one, doc in session.execute(chosen)]

        return await self._database.read(found)

    async def ids(self) -> dict[ToolId, str]:
        """The tools that are offered, each with its source's id."""
        columns = (SourceToolRow.offered_as, SourceToolRow.source_id)
        chosen = select(*columns).where(SourceToolRow.offered_as.is_not(None))
        return await self._database.read(
            lambda session: {ToolId(one): of for one, of in session.execute(chosen) if one}
        )

    async def known(self) -> frozenset[ToolId]:
        """Every tool that any source ever named, offered or not."""
        chosen = select(SourceToolRow.tool).distinct()
        return await self._database.read(lambda session: frozenset(ToolId(one) for one in session.scalars(chosen)))

    async def uses(self) -> dict[str, SourceUse]:
        """Who may use which source, by its id."""
        chosen = select(SourceRow).where(SourceRow.removed_at.is_(None))
        return await self._database.read(lambda session: {row.id: use_of(row) for row in session.scalars(chosen)})

    async def source_of(self, tool: ToolId) -> str | None:
        """The id of the source that offers it."""
        chosen = select(SourceToolRow.source_id).where(SourceToolRow.offered_as == tool)
        return await self._database.read(lambda session: session.scalar(chosen))
