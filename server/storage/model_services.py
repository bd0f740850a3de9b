"""Model services: each with its key in the vault, and the purposes that it is chosen for."""

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from domain.errors import ConflictError, NotFoundError, SecretError
from domain.model_service import ModelService, NewModelService, Purpose, ServiceTest
from server.storage.database import Database
from server.storage.identifiers import generate_id, normalize_name
from server.storage.repository import Clock, Repository, to_model
from server.storage.rows.administration import ModelPurposeRow, ModelServiceRow
from server.storage.rows.keys import ModelKeyRow
from server.storage.vault import ToolKeys

_KEY = "key"
_GONE = "there is no such model service"
_ServiceWithPurpose = tuple[ModelServiceRow, bool, str | None]
_HAS_KEY = select(ModelKeyRow.service_id).where(ModelKeyRow.service_id == ModelServiceRow.id).exists()


class ModelServices(Repository):
    """Stores model services. ``keys`` is the shelf of the vault that their keys are on."""

    def __init__(self, database: Database, clock: Clock, keys: ToolKeys) -> None:
        super().__init__(database, clock)
        self._keys = keys

    async def list_all(self) -> list[ModelService]:
        """List the services in the order in which they were added."""
        statement = select(ModelServiceRow, _HAS_KEY).order_by(ModelServiceRow.id)
        async with self._database.read_session() as session:
            return [_to_service(row, has_key=has_key) for row, has_key in await session.execute(statement)]

    async def list_with_purposes(self) -> tuple[list[ModelService], dict[Purpose, str]]:
        """Return the results of :meth:`list_all` and :meth:`list_purposes` as of one moment."""
        joined = select(ModelServiceRow, _HAS_KEY, ModelPurposeRow.purpose).outerjoin(
            ModelPurposeRow, ModelPurposeRow.service_id == ModelServiceRow.id
        )
        services, purposes = dict[str, ModelService](), dict[Purpose, str]()
        async with self._database.read_session() as session:
            rows = cast("Iterable[_ServiceWithPurpose]", await session.execute(joined.order_by(ModelServiceRow.id)))
            for row, has_key, purpose in rows:
                services[row.id] = _to_service(row, has_key=has_key)
                if purpose is not None:  # the outer join also returns services that are chosen for nothing
                    purposes[cast("Purpose", purpose)] = row.id
        return list(services.values()), purposes

    async def get(self, service_id: str) -> ModelService:
        """Return a service.

        Raises:
            NotFoundError: there is no such service.
        """
        async with self._database.read_session() as session:
            return await _read_service(session, service_id)

    async def get_key(self, service_id: str) -> str:
        """Return a service's key; empty where it has none.

        Raises:
            SecretError: the key cannot be opened, or was given for another host than the service's.
        """
        async with self._database.read_session() as session:
            row = await session.get(ModelServiceRow, service_id)
        hosts = (await self._keys.list_hosts(service_id)).get(_KEY)
        if row is None or hosts is None:
            return ""
        if extract_origin(row.address) not in hosts:
            raise SecretError(
                f"the key of {row.name} was given for {', '.join(hosts)}, and the service is at {extract_origin(row.address)}: give it anew"
            )
        return await self._keys.get_value(service_id, _KEY) or ""

    async def add(self, new: NewModelService, key: str, test: ServiceTest, by: str) -> ModelService:
        """Add a service; ``key`` is empty where it needs none.

        Raises:
            ConflictError: the name is taken.
        """
        at = self._clock()
        row = ModelServiceRow(
            id=generate_id(),
            version=1,
            created_at=at,
            created_by=by,
            changed_at=at,
            changed_by=by,
            **_build_columns(new),
        )
        row.tested, row.tested_at = test.model_dump(mode="json"), at
        async with self._database.write_session() as session:
            await _check_name(session, new.name, "")
            session.add(row)
            await session.flush()
            if key:
                session.add(self._keys.build_sealed_row(row.id, _KEY, key, [extract_origin(new.address)]))
        return _to_service(row, has_key=bool(key))

    async def change(
        self, service_id: str, version: int, new: NewModelService, key: str | None, test: ServiceTest, by: str
    ) -> ModelService:
        """Replace a service. With ``key`` None the stored key stays; an empty one removes it.

        Raises:
            ConflictError: the name is taken, or the service was changed since ``version``.
        """
        async with self._database.write_session() as session:
            row = await _find_row(session, service_id)
            if row.version != version:
                raise ConflictError(f"somebody has changed {row.name} meanwhile: look at it again, then change it")
            await _check_name(session, new.name, service_id)
            for name, value in _build_columns(new).items():
                setattr(row, name, value)
            row.tested, row.tested_at = test.model_dump(mode="json"), self._clock()
            self._record_change(row, by)
            if key:
                await session.merge(self._keys.build_sealed_row(service_id, _KEY, key, [extract_origin(new.address)]))
            elif key == "":
                await session.execute(delete(ModelKeyRow).where(ModelKeyRow.service_id == service_id))
            await session.flush()
            return await _read_service(session, service_id)

    async def store_test(self, service_id: str, version: int, test: ServiceTest) -> ModelService:
        """Store the result of a test, unless the service was changed since ``version``."""
        async with self._database.write_session() as session:
            row = await _find_row(session, service_id)
            if row.version == version:
                row.tested, row.tested_at = test.model_dump(mode="json"), self._clock()
            await session.flush()
            return await _read_service(session, service_id)

    async def set_online(self, service_id: str, by: str, *, online: bool) -> ModelService:
        """Set whether runs may use the service, from the next run on."""
        async with self._database.write_session() as session:
            row = await _find_row(session, service_id)
            if row.online != online:
                row.online = online
                self._record_change(row, by)
            await session.flush()
            return await _read_service(session, service_id)

    async def remove(self, service_id: str) -> None:
        """Delete a service with its key. Purposes that it was chosen for return to the default."""
        async with self._database.write_session() as session:
            await session.delete(await _find_row(session, service_id))

    async def list_purposes(self) -> dict[Purpose, str]:
        """Return the chosen service of each purpose."""
        async with self._database.read_session() as session:
            return {row.purpose: row.service_id for row in await session.scalars(select(ModelPurposeRow))}  # pyright: ignore[reportReturnType]  # written by choose alone

    async def choose(self, purpose: Purpose, service_id: str | None) -> None:
        """Choose a service for a purpose; None returns to the default.

        Raises:
            NotFoundError: there is no such service.
            ConflictError: it is not a language model.
        """
        async with self._database.write_session() as session:
            if service_id is None:
                await session.execute(delete(ModelPurposeRow).where(ModelPurposeRow.purpose == purpose))
                return
            row = await _find_row(session, service_id)
            if row.kind != "chat":
                raise ConflictError(f"{row.name} makes embeddings: choose a language model for this")
            await session.merge(ModelPurposeRow(purpose=purpose, service_id=service_id))

    def _record_change(self, row: ModelServiceRow, by: str) -> None:
        row.version += 1
        row.changed_at, row.changed_by = self._clock(), by


def extract_origin(address: str) -> str:
    """Return scheme, host and port of an address: where its key may be sent."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower()


async def _find_row(session: AsyncSession, service_id: str) -> ModelServiceRow:
    row = await session.get(ModelServiceRow, service_id)
    if row is None:
        raise NotFoundError(_GONE)
    return row


async def _read_service(session: AsyncSession, service_id: str) -> ModelService:
    row = await _find_row(session, service_id)
    return _to_service(row, has_key=await session.get(ModelKeyRow, (service_id, _KEY)) is not None)


async def _check_name(session: AsyncSession, name: str, service_id: str) -> None:
    same = select(ModelServiceRow.id).where(
        ModelServiceRow.name_key == normalize_name(name), ModelServiceRow.id != service_id
    )
    if await session.scalar(same):
        raise ConflictError(f"there is a model service called {name}; choose another name")


def _build_columns(new: NewModelService) -> Mapping[str, Any]:
    columns = {name: getattr(new, name) for name in NewModelService.model_fields}
    return columns | {"name_key": normalize_name(new.name), "parameters": new.parameters.model_dump(mode="json")}


def _to_service(row: ModelServiceRow, *, has_key: bool) -> ModelService:
    return to_model(ModelService, row, has_key=has_key)
