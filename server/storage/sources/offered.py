"""What of sources is offered, and to whom: what the graph is made to follow."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from domain.source import KeysOf
from domain.tool import ToolDoc, ToolId
from server.storage.database import Database
from server.storage.rows.accounts import UserRow
from server.storage.rows.sources import SourceRow, SourceStepRow, SourceToolRow
from server.storage.sources.mapping import use_of
from server.storage.sources.models import Offered, SourceUse
from server.storage.users import User, user_of


def _revision(steps: int, last: str | None) -> str:
    return f"{steps}:{last}"


class OfferedTools:
    """Those of a database. Only what is admitted, of sources that are there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def revision(self) -> str:
        """What is another one after every step that was taken with any source."""
        chosen = select(func.count(), func.max(SourceStepRow.id))
        return _revision(*await self._database.read(lambda session: session.execute(chosen).one()))

    async def revision_for(self, user_id: str) -> tuple[str, User | None]:
        """The revision, and the account that looks at it, as of one moment; None where it is gone."""
        steps = select(func.count().label("steps"), func.max(SourceStepRow.id).label("last")).subquery()
        chosen = select(steps.c.steps, steps.c.last, UserRow).outerjoin_from(steps, UserRow, UserRow.id == user_id)
        found = await self._database.read(lambda session: session.execute(chosen).one())
        user: UserRow | None = found[2]  # an outer join
        return _revision(found[0], found[1]), user_of(user) if user else None

    async def all(self) -> list[Offered]:
        """Every tool that is offered, with its document as it is offered."""
        columns = (SourceToolRow.source_id, SourceToolRow.offer)
        chosen = select(*columns).where(SourceToolRow.offered_as.is_not(None)).order_by(SourceToolRow.offered_as)

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

    async def keys_of(self, source_id: str) -> KeysOf | None:
        """Whose keys a source's calls send; None where there is no such source."""
        chosen = select(SourceRow.keys_of).where(SourceRow.id == source_id, SourceRow.removed_at.is_(None))
        found = await self._database.read(lambda session: session.scalar(chosen))
        return "source" if found == "source" else "caller" if found is not None else None

    async def source_of(self, tool: ToolId) -> str | None:
        """The id of the source that offers it."""
        chosen = select(SourceToolRow.source_id).where(SourceToolRow.offered_as == tool)
        return await self._database.read(lambda session: session.scalar(chosen))
