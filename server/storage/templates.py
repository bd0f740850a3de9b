"""Workflow templates and their versions. A version, once written, stays as it is."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Text, delete, func, or_, select, tuple_, type_coerce, update
from sqlalchemy.orm import Session

from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject, Model
from domain.tool import ToolId
from server.storage.accounts import SHARING_ROLES
from server.storage.database import Database
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, to_model
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import RunRow, TemplatePinRow, TemplateRow, TemplateVersionRow


class Template(Model):
    """``version``: the latest. ``shared``: others may see and run it, while its owner may share; only its owner changes it."""

    id: str
    user_id: str
    name: str
    description: str
    shared: bool
    version: int
    created_at: datetime
    updated_at: datetime


class TemplateUse(Model):
    """How a template has done for one user: of ``runs`` so many ``answered``."""

    runs: int = 0
    answered: int = 0
    last_used_at: datetime | None = None


class TemplateContent(Model):
    """``parameters``: name to JSON Schema; ``run_id``: the run it was made from."""

    parameters: JsonObject
    plan: JsonObject
    note: str = ""
    run_id: str | None = None


class TemplateVersion(TemplateContent):
    template_id: str
    version: int
    created_at: datetime


class Templates(Repository):
    """The templates of a database. ``admin``: for an administrator, who sees all that is marked as shared, whoever shared it."""

    async def add(self, user_id: str, name: str, content: TemplateContent, *, description: str = "") -> Template:
        """A new one with version 1. ``ConflictError``: this user has one of this name."""
        at = self._clock()
        row = TemplateRow(
            id=generate_id(),
            user_id=user_id,
            name=name,
            description=description,
            shared=False,
            version=1,
            created_at=at,
            updated_at=at,
        )
        async with self._database.write_session() as session:
            if await session.scalar(
                select(TemplateRow.id).where(TemplateRow.user_id == user_id, TemplateRow.name == name)
            ):
                raise ConflictError(f"you have a template called {name}; add a version to it, or choose another name")
            session.add(row)
            await session.flush()
            session.add(_build_version_row(row.id, 1, content, at))
        return to_model(Template, row)

    async def add_version(self, template_id: str, user_id: str, content: TemplateContent) -> TemplateVersion:
        """The next version. ``NotFoundError``: this user has no such template."""
        at = self._clock()
        owned = (TemplateRow.id == template_id) & (TemplateRow.user_id == user_id)
        counted = update(TemplateRow).where(owned).values(version=TemplateRow.version + 1, updated_at=at)
        async with self._database.write_session() as session:
            number = await session.scalar(counted.returning(TemplateRow.version))
            if number is None:
                raise _no_template()
            row = _build_version_row(template_id, number, content, at)
            session.add(row)
        return to_model(TemplateVersion, row)

    async def get(
        self, template_id: str, user_id: str, version: int = 0, *, admin: bool = False
    ) -> tuple[Template, TemplateVersion] | None:
        """One that is this user's or shared, at a version (0: the latest)."""
        seen = _is_visible(user_id, admin=admin)
        async with self._database.read_session() as session:
            row = await session.scalar(select(TemplateRow).where(TemplateRow.id == template_id, seen))
            found = await session.get(TemplateVersionRow, (template_id, version or row.version)) if row else None
            return (to_model(Template, row), to_model(TemplateVersion, found)) if row and found else None

    async def list_versions(
        self, template_id: str, user_id: str, *, after: int = 0, limit: int = 10, admin: bool = False
    ) -> list[TemplateVersion]:
        """Versions of one that is this user's or shared, the first first, those after a number."""
        seen = _is_visible(user_id, admin=admin)
        statement = select(TemplateVersionRow).join(TemplateRow, TemplateRow.id == TemplateVersionRow.template_id)
        chosen = statement.where(TemplateRow.id == template_id, TemplateVersionRow.version > after, seen)
        paged = chosen.order_by(TemplateVersionRow.version).limit(limit)
        return await self._database.read(
            lambda session: [to_model(TemplateVersion, row) for row in session.scalars(paged)]
        )

    async def load_plans(self, versions: Mapping[str, int]) -> dict[str, JsonObject]:
        """By template the plan of its version that is named, whoever may see it."""
        wanted = tuple_(TemplateVersionRow.template_id, TemplateVersionRow.version).in_(list(versions.items()))
        kept = select(TemplateVersionRow.template_id, TemplateVersionRow.plan).where(wanted)
        async with self._database.read_session() as session:
            return {row.template_id: row.plan for row in await session.execute(kept)}

    async def list_all(self, user_id: str, *, admin: bool = False) -> list[Template]:
        """A user's own and those that are shared, by name."""
        seen = _is_visible(user_id, admin=admin)
        async with self._database.read_session() as session:
            rows = await session.scalars(select(TemplateRow).where(seen).order_by(TemplateRow.name, TemplateRow.id))
            return [to_model(Template, row) for row in rows]

    async def count_uses(self, user_id: str) -> dict[str, TemplateUse]:
        """By template how the runs that this user made of it went."""
        answered = func.count().filter(RunRow.outcome == "answered")
        counted = select(RunRow.template_id, func.count(), answered, func.max(RunRow.created_at))
        mine = counted.where(RunRow.user_id == user_id, RunRow.template_id.is_not(None)).group_by(RunRow.template_id)
        async with self._database.read_session() as session:
            rows = await session.execute(mine)
            return {
                template: TemplateUse(runs=runs, answered=good, last_used_at=last)
                for template, runs, good, last in rows
                if template is not None
            }

    async def find_owned_by_others(self, template_ids: Collection[str], user_id: str) -> set[str]:
        """Those of these that belong to other users."""
        others = TemplateRow.id.in_(template_ids) & (TemplateRow.user_id != user_id)
        async with self._database.read_session() as session:
            return set(await session.scalars(select(TemplateRow.id).where(others)))

    async def change(
        self,
        template_id: str,
        user_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        shared: bool | None = None,
        admin: bool = False,
    ) -> Template:
        """An administrator may end the sharing of another's, and no more. ``NotFoundError``: this user has no such template; ``ConflictError``: they
        have another one of this name.
        """
        given = {"name": name, "description": description, "shared": shared}
        values = {name: value for name, value in given.items() if value is not None} | {"updated_at": self._clock()}
        ends = admin and shared is False and description is None and name is None
        owned = (TemplateRow.id == template_id) & _is_changeable(user_id, admin=ends)
        namesake = (TemplateRow.user_id == user_id) & (TemplateRow.name == name) & (TemplateRow.id != template_id)
        async with self._database.write_session() as session:
            if name is not None and await session.scalar(select(TemplateRow.id).where(namesake)):
                raise ConflictError(f"you have another template called {name}; choose another name")
            row = await session.scalar(update(TemplateRow).where(owned).values(values).returning(TemplateRow))
            if row is None:
                raise _no_template()
            return to_model(Template, row)

    async def remove(self, template_id: str, user_id: str, *, admin: bool = False) -> bool:
        """With all its versions; runs that were made from it stay. Whether this user had it, or may remove what is shared."""
        owned = (TemplateRow.id == template_id) & _is_changeable(user_id, admin=admin)
        async with self._database.write_session() as session:
            return await session.scalar(delete(TemplateRow).where(owned).returning(TemplateRow.id)) is not None


def _is_visible(user_id: str, *, admin: bool) -> ColumnElement[bool]:
    shared: ColumnElement[bool] = TemplateRow.shared.is_(True)
    if not admin:
        may = UserRow.role.in_(SHARING_ROLES) & UserRow.disabled_at.is_(None)
        shared &= TemplateRow.user_id.in_(select(UserRow.id).where(may))
    return or_(TemplateRow.user_id == user_id, shared)


def _is_changeable(user_id: str, *, admin: bool) -> ColumnElement[bool]:
    own = TemplateRow.user_id == user_id
    return or_(own, TemplateRow.shared.is_(True)) if admin else own


def _no_template() -> NotFoundError:
    return NotFoundError("you have no such template")


def _build_version_row(template_id: str, version: int, content: TemplateContent, at: datetime) -> TemplateVersionRow:
    return TemplateVersionRow(template_id=template_id, version=version, created_at=at, **content.model_dump())


class TemplatePins(Repository):
    """Those of a database."""

    async def list_all(self, user_id: str) -> dict[str, int]:
        """A user's, by the templates' ids."""
        statement = select(TemplatePinRow.template_id, TemplatePinRow.version)
        async with self._database.read_session() as session:
            found = await session.execute(statement.where(TemplatePinRow.user_id == user_id))
            return {row.template_id: row.version for row in found}

    async def get(self, user_id: str, template_id: str) -> int | None:
        """The version that a user has taken; None where there is none."""
        async with self._database.read_session() as session:
            row = await session.get(TemplatePinRow, (user_id, template_id))
            return row.version if row else None

    async def pin(self, user_id: str, template_id: str, version: int) -> None:
        """In place of the one before. ``ConflictError``: there is no such version."""
        row = TemplatePinRow(user_id=user_id, template_id=template_id, version=version, taken_at=self._clock())
        async with self._database.write_session() as session:
            await session.merge(row)


class TemplateMention(Model):
    """``seen``: whoever asks may know of it."""

    name: str
    seen: bool


async def find_templates_calling(
    database: Database, tools: Sequence[ToolId], user_id: str, *, admin: bool
) -> dict[ToolId, list[TemplateMention]]:
    """By tool: those whose latest version names it. An administrator sees what is shared, and everybody their own."""
    latest = (TemplateVersionRow.template_id == TemplateRow.id) & (TemplateVersionRow.version == TemplateRow.version)
    plan = type_coerce(TemplateVersionRow.plan, Text)
    columns = select(TemplateRow.name, TemplateRow.user_id, TemplateRow.shared).join(TemplateVersionRow, latest)

    def found(session: Session) -> dict[ToolId, list[TemplateMention]]:
        uses: dict[ToolId, list[TemplateMention]] = {}
        for tool in tools:
            naming = columns.where(plan.contains(f'"{tool}"', autoescape=True)).order_by(TemplateRow.name)
            uses[tool] = [
                TemplateMention(name=name, seen=owner == user_id or (admin and shared))
                for name, owner, shared in session.execute(naming)
            ]
        return uses

    return await database.read(found)
