"""Workflow templates and their versions. A version, once written, stays as it is."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Text, delete, func, or_, select, tuple_, type_coerce, update
from sqlalchemy.orm import Session

from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject
from domain.tool import ToolId
from server.storage.accounts import SHARING_ROLES
from server.storage.database import Database
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import RunRow, TemplatePinRow, TemplateRow, TemplateVersionRow


class Template(StoredModel):
    """A workflow template."""

    id: str
    user_id: str
    name: str
    description: str
    shared: bool
    """Others may see and run it, as long as its owner may share; only its owner changes it."""
    version: int
    """The latest version."""
    created_at: datetime
    updated_at: datetime


class TemplateUse(StoredModel):
    """How often a user ran a template, and how often it answered."""

    runs: int = 0
    answered: int = 0
    last_used_at: datetime | None = None


class TemplateContent(StoredModel):
    """The content of a version of a template."""

    parameters: JsonObject
    """Name to JSON Schema."""
    plan: JsonObject
    note: str = ""
    run_id: str | None = None
    """The run that it was made from."""


class TemplateVersion(TemplateContent):
    """A version of a template. Never changed once written."""

    template_id: str
    version: int
    created_at: datetime


class Templates(Repository):
    """Stores templates. With ``admin``, everything marked as shared is visible, even where its owner may not share."""

    async def add(self, user_id: str, name: str, content: TemplateContent, *, description: str = "") -> Template:
        """Add a template with version 1.

        Raises:
            ConflictError: this user has a template of this name.
        """
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
        """Add the next version.

        Raises:
            NotFoundError: this user has no such template.
        """
        at = self._clock()
        is_owned = (TemplateRow.id == template_id) & (TemplateRow.user_id == user_id)
        increment = update(TemplateRow).where(is_owned).values(version=TemplateRow.version + 1, updated_at=at)
        async with self._database.write_session() as session:
            number = await session.scalar(increment.returning(TemplateRow.version))
            if number is None:
                raise _build_no_template_error()
            row = _build_version_row(template_id, number, content, at)
            session.add(row)
        return to_model(TemplateVersion, row)

    async def get(
        self, template_id: str, user_id: str, version: int = 0, *, admin: bool = False
    ) -> tuple[Template, TemplateVersion] | None:
        """Return a template that is this user's or shared, with a version; 0 is the latest."""
        is_visible = _is_visible(user_id, admin=admin)
        async with self._database.read_session() as session:
            row = await session.scalar(select(TemplateRow).where(TemplateRow.id == template_id, is_visible))
            version_row = await session.get(TemplateVersionRow, (template_id, version or row.version)) if row else None
            return (to_model(Template, row), to_model(TemplateVersion, version_row)) if row and version_row else None

    async def list_versions(
        self, template_id: str, user_id: str, *, after: int = 0, limit: int = 10, admin: bool = False
    ) -> list[TemplateVersion]:
        """List versions of a template that is this user's or shared, in order, starting after the number ``after``."""
        is_visible = _is_visible(user_id, admin=admin)
        statement = select(TemplateVersionRow).join(TemplateRow, TemplateRow.id == TemplateVersionRow.template_id)
        later = statement.where(TemplateRow.id == template_id, TemplateVersionRow.version > after, is_visible)
        paged = later.order_by(TemplateVersionRow.version).limit(limit)
        return await self._database.read(
            lambda session: [to_model(TemplateVersion, row) for row in session.scalars(paged)]
        )

    async def load_plans(self, versions: Mapping[str, int]) -> dict[str, JsonObject]:
        """Return the plan of each template at the given version, whoever owns it."""
        is_requested = tuple_(TemplateVersionRow.template_id, TemplateVersionRow.version).in_(list(versions.items()))
        statement = select(TemplateVersionRow.template_id, TemplateVersionRow.plan).where(is_requested)
        async with self._database.read_session() as session:
            return {row.template_id: row.plan for row in await session.execute(statement)}

    async def list_all(self, user_id: str, *, admin: bool = False) -> list[Template]:
        """List a user's own templates and the shared ones, by name."""
        is_visible = _is_visible(user_id, admin=admin)
        async with self._database.read_session() as session:
            rows = await session.scalars(
                select(TemplateRow).where(is_visible).order_by(TemplateRow.name, TemplateRow.id)
            )
            return [to_model(Template, row) for row in rows]

    async def count_uses(self, user_id: str) -> dict[str, TemplateUse]:
        """Count the runs that this user started from each template."""
        answered = func.count().filter(RunRow.outcome == "answered")
        statement = select(RunRow.template_id, func.count(), answered, func.max(RunRow.created_at))
        by_template = statement.where(RunRow.user_id == user_id, RunRow.template_id.is_not(None)).group_by(
            RunRow.template_id
        )
        async with self._database.read_session() as session:
            rows = await session.execute(by_template)
            return {
                template: TemplateUse(runs=runs, answered=answered_count, last_used_at=last)
                for template, runs, answered_count, last in rows
                if template is not None
            }

    async def find_owned_by_others(self, template_ids: Collection[str], user_id: str) -> set[str]:
        """Return the ids among these whose templates belong to other users."""
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
        """Change a template. An administrator may end the sharing of another user's template, and nothing more.

        Raises:
            NotFoundError: this user has no such template.
            ConflictError: this user has another template of this name.
        """
        changes = {"name": name, "description": description, "shared": shared}
        values = {name: value for name, value in changes.items() if value is not None} | {"updated_at": self._clock()}
        ends_sharing = admin and shared is False and description is None and name is None
        is_changeable = (TemplateRow.id == template_id) & _is_changeable(user_id, admin=ends_sharing)
        has_same_name = (TemplateRow.user_id == user_id) & (TemplateRow.name == name) & (TemplateRow.id != template_id)
        async with self._database.write_session() as session:
            if name is not None and await session.scalar(select(TemplateRow.id).where(has_same_name)):
                raise ConflictError(f"you have another template called {name}; choose another name")
            row = await session.scalar(update(TemplateRow).where(is_changeable).values(values).returning(TemplateRow))
            if row is None:
                raise _build_no_template_error()
            return to_model(Template, row)

    async def remove(self, template_id: str, user_id: str, *, admin: bool = False) -> bool:
        """Delete a template with its versions; runs made from it stay.

        Return False where this user neither owns it nor, as an administrator, may remove a shared one.
        """
        is_changeable = (TemplateRow.id == template_id) & _is_changeable(user_id, admin=admin)
        async with self._database.write_session() as session:
            return await session.scalar(delete(TemplateRow).where(is_changeable).returning(TemplateRow.id)) is not None


def _is_visible(user_id: str, *, admin: bool) -> ColumnElement[bool]:
    shared: ColumnElement[bool] = TemplateRow.shared.is_(True)
    if not admin:
        may_share = UserRow.role.in_(SHARING_ROLES) & UserRow.disabled_at.is_(None)
        shared &= TemplateRow.user_id.in_(select(UserRow.id).where(may_share))
    return or_(TemplateRow.user_id == user_id, shared)


def _is_changeable(user_id: str, *, admin: bool) -> ColumnElement[bool]:
    own = TemplateRow.user_id == user_id
    return or_(own, TemplateRow.shared.is_(True)) if admin else own


def _build_no_template_error() -> NotFoundError:
    return NotFoundError("you have no such template")


def _build_version_row(template_id: str, version: int, content: TemplateContent, at: datetime) -> TemplateVersionRow:
    return TemplateVersionRow(template_id=template_id, version=version, created_at=at, **content.model_dump())


class TemplatePins(Repository):
    """Stores which version of another user's template a user runs, until that user selects another."""

    async def list_all(self, user_id: str) -> dict[str, int]:
        """Return a user's pinned versions by template id."""
        statement = select(TemplatePinRow.template_id, TemplatePinRow.version)
        async with self._database.read_session() as session:
            rows = await session.execute(statement.where(TemplatePinRow.user_id == user_id))
            return {row.template_id: row.version for row in rows}

    async def get(self, user_id: str, template_id: str) -> int | None:
        """Return the pinned version of a template; None where there is none."""
        async with self._database.read_session() as session:
            row = await session.get(TemplatePinRow, (user_id, template_id))
            return row.version if row else None

    async def pin(self, user_id: str, template_id: str, version: int) -> None:
        """Pin a version in place of the earlier one.

        Raises:
            ConflictError: there is no such version.
        """
        row = TemplatePinRow(user_id=user_id, template_id=template_id, version=version, taken_at=self._clock())
        async with self._database.write_session() as session:
            await session.merge(row)


class TemplateMention(StoredModel):
    """A template that calls a tool."""

    name: str
    seen: bool
    """The user who asks may see it."""


async def find_templates_calling(
    database: Database, tools: Sequence[ToolId], user_id: str, *, admin: bool
) -> dict[ToolId, list[TemplateMention]]:
    """Return the templates whose latest version calls each tool.

    An administrator sees shared ones, and everybody their own.
    """
    latest = (TemplateVersionRow.template_id == TemplateRow.id) & (TemplateVersionRow.version == TemplateRow.version)
    plan = type_coerce(TemplateVersionRow.plan, Text)
    columns = select(TemplateRow.name, TemplateRow.user_id, TemplateRow.shared).join(TemplateVersionRow, latest)

    def find(session: Session) -> dict[ToolId, list[TemplateMention]]:
        uses: dict[ToolId, list[TemplateMention]] = {}
        for tool in tools:
            mentioning = columns.where(plan.contains(f'"{tool}"', autoescape=True)).order_by(TemplateRow.name)
            uses[tool] = [
                TemplateMention(name=name, seen=owner == user_id or (admin and shared))
                for name, owner, shared in session.execute(mentioning)
            ]
        return uses

    return await database.read(find)
