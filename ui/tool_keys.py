"""Keys for tools as the page needs them: a user's own, or those that are kept with a source. Their values go in and never come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field

from domain.model import JsonObject
from ui.client import Client, read, read_all
from ui.language import message


class Key(BaseModel):
    """A key that is kept, without its value. ``grant``: by which way of OAuth it is renewed; None: it is a value as it stands. ``lapsed``: why it
    needs consent again.
    """

    name: str
    hosts: list[str] = Field(default_factory=list[str])
    updated_at: datetime | None = None
    grant: str | None = None
    lapsed: str = ""


class Flow(BaseModel):
    """A way to obtain a key, as a tool's document names it: a stranger's word."""

    grant: str
    token_url: str = ""
    authorize_url: str = ""
    scopes: list[str] = Field(default_factory=list[str])


class NeededKey(BaseModel):
    """A key that admitted tools want, and this user has not. ``tools``: some that want it. ``source_id``: it is to be kept with this source; None:
    with the user's own. ``lapsed``: why it needs consent again.
    """

    name: str
    hosts: list[str] = Field(default_factory=list[str])
    tools: list[str] = Field(default_factory=list[str])
    source_id: str | None = None
    lapsed: str = ""
    flows: list[Flow] = Field(default_factory=list[Flow])


class Endpoints(BaseModel):
    """What a server says of how to log in to it. ``registration_url``: where clients register themselves; ``told``: what its user should know."""

    authorize_url: str = ""
    token_url: str = ""
    registration_url: str = ""
    resource: str = ""
    issuer: str = ""
    issuer_told: bool = False
    scopes: list[str] = Field(default_factory=list[str])
    told: list[str] = Field(default_factory=list[str])


def named_in(flows: Sequence[Flow]) -> Endpoints | None:
    """Where to log in, as a document says it: a person's own consent before that of a client."""
    chosen = next((one for one in flows if one.grant == "authorization_code"), next(iter(flows), None))
    if chosen is None:
        return None
    told = message("Its document names these addresses: look whether they are where you would log in.")
    return Endpoints(authorize_url=chosen.authorize_url, token_url=chosen.token_url, scopes=chosen.scopes, told=[told])


class Begun(BaseModel):
    """``authorize``: where the user has to agree; None: nothing is left to do."""

    authorize: str | None = None


@dataclass(frozen=True)
class Vault:
    """Where keys are kept: ``/me/tool-keys``, or ``/sources/{id}/keys``."""

    client: Client
    path: str = "/me/tool-keys"

    def kept(self) -> list[Key]:
        """All of them."""
        return read_all(Key, self.client.send("GET", self.path))

    def keep(self, name: str, value: str, hosts: list[str]) -> None:
        """A value, in place of what is kept under that name."""
        self.client.send("PUT", f"{self.path}/{name}", json={"value": value, "hosts": hosts})

    def forget(self, name: str) -> None:
        """For good."""
        self.client.send("DELETE", f"{self.path}/{name}")

    def authorize(self, name: str, how: JsonObject) -> Begun:
        """A key by OAuth 2. Raises ServerError: it says what the other server said."""
        return read(Begun, self.client.send("POST", f"{self.path}/{name}/oauth", json=how))


def source_vault(client: Client, source: str) -> Vault:
    """The keys that are kept with a source."""
    return Vault(client, f"/sources/{source}/keys")


def needed_keys(client: Client) -> list[NeededKey]:
    """What this user would have to keep."""
    return read_all(NeededKey, client.send("GET", "/me/needed-keys"))


def discover(client: Client, address: str) -> Endpoints:
    """What a server says of itself."""
    return read(Endpoints, client.send("POST", "/me/oauth-discovery", json={"address": address}))
