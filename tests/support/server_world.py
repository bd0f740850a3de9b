"""A server in this process with people in it: asked over ASGI, its rows in a file of the test's own."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from fastapi import FastAPI
from pwdlib.hashers.argon2 import Argon2Hasher

from server.app import create_app
from server.auth.passwords import Passwords
from server.services import Services
from server.storage.accounts import Role, User
from server.storage.storage import Storage
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

PASSWORD = "correct horse battery"
CHEAP = Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1)
"""Argon2id as in production, with parameters that take no time."""
PEOPLE: dict[str, Role] = {"user": "user", "other": "user", "author": "author", "admin": "admin"}


async def with_store(world: "World") -> None:
    """Make its store, with no tools in it."""
    await asyncio.to_thread(StoreFolder(world.services.settings.store).open, create=True)


@dataclass(frozen=True)
class World:
    """``client`` sends no token by itself; :meth:`token_of` gives one. ``people`` by what they are: see ``PEOPLE``."""

    app: FastAPI
    client: httpx.AsyncClient
    people: dict[str, User]

    @property
    def services(self) -> Services:
        return self.app.state.services

    async def headers_of(self, who: str) -> dict[str, str]:
        """A fresh session's; none for ``nobody``."""
        if who == "nobody":
            return {}
        pair = await self.services.storage.tokens.open_session(self.people[who].id, "a test")
        return {"Authorization": f"Bearer {pair.access_token}"}


@asynccontextmanager
async def serving(home: Path, **settings: object) -> AsyncGenerator[World]:
    """A server that has started, and stops in order, without a store of tools; the rows of ``home`` as they are, with ``PEOPLE`` where there is nobody."""
    usual = {"hosts": "server", "store": home.parent / "store"}
    chosen = Settings(server_home=home, **usual | settings)  # pyright: ignore[reportArgumentType]  # validated there
    app = create_app(chosen, passwords=Passwords(CHEAP))
    async with app.router.lifespan_context(app):
        storage: Storage = app.state.services.storage
        if not await storage.users.list_page():
            password_hash = await Passwords(CHEAP).hash(PASSWORD)
            for name, role in PEOPLE.items():
                await storage.users.add(name, password_hash, role)
        people = {user.name: user for user in await storage.users.list_page()}
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            yield World(app, client, people)


async def prepared(home: Path) -> Path:
    """A home with people, to be copied: making one takes longer than most tests."""
    async with serving(home):
        pass
    return home


def copied(home: Path, to: Path) -> Path:
    """A copy of a prepared home."""
    return Path(shutil.copytree(home, to))
