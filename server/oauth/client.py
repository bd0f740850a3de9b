"""All of OAuth that a server has: consents, fresh tokens, and what authorization servers say of themselves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent.execution.json_client import JsonHttpClient
from server.oauth.consents import Consents
from server.oauth.renewal import Renewals
from server.storage.storage import Storage
from wiring.executors import open_json_client
from wiring.settings import Settings

CALLBACK = "/api/v1/oauth/callback"


@dataclass(frozen=True, slots=True)
class OAuth:
    """``of_users``, ``of_sources``: fresh tokens of their keys."""

    exchange: JsonHttpClient
    consents: Consents
    of_users: Renewals
    of_sources: Renewals
    public_address: str

    def redirect_uri(self, asked_at: str) -> str:
        """Where an authorization server sends people back to. ``asked_at``: the address that this request was sent to."""
        return (self.public_address or asked_at).rstrip("/") + CALLBACK


@asynccontextmanager
async def open_oauth(settings: Settings, storage: Storage) -> AsyncGenerator[OAuth]:
    """Opens no connection before one is needed."""
    async with open_json_client(settings) as exchange:
        yield OAuth(
            exchange=exchange,
            consents=Consents(
                storage.key_consents, {"user": storage.key_grants, "source": storage.source_key_grants}, exchange
            ),
            of_users=Renewals(storage.key_grants, exchange, _consent_of_user),
            of_sources=Renewals(storage.source_key_grants, exchange, _consent_of_source),
            public_address=settings.public_address,
        )


def _consent_of_user(_: str, name: str) -> str:
    return f"obtain it again in your account (POST /api/v1/me/tool-keys/{name}/oauth)"


def _consent_of_source(source: str, name: str) -> str:
    return f"who keeps this source obtains it again (POST /api/v1/sources/{source}/keys/{name}/oauth)"
