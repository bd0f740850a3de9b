"""Named secrets: the keys that calls send. A document names one; its value comes from outside and goes to named hosts only.

A document is a stranger's text. Were a name alone enough, a hostile one could name somebody else's key and have it sent to its
own host; so every secret has its hosts, given by whoever gave the value.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Protocol

from domain.errors import SecretError
from domain.tool import STDIO


class Secrets(Protocol):
    """Where values come from: the environment, a vault."""

    async def has(self, name: str) -> bool:
        """Whether there is a secret of this name, wherever it may be sent."""
        ...

    async def value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """The value, to be sent to this host; None where there is none.

        Raises ``SecretError`` where it may not be sent there, or not unencrypted; the message says how to allow it.
        """
        ...

    async def refused(self, name: str, value: str) -> bool:
        """A host did not take this value (401): whether another was obtained, so that asking once more may help.

        Raises ``SecretError`` where one was to be obtained, and was not.
        """
        ...

    def advice(self, name: str, host: str, port: int, what: str = "a key") -> str:
        """How a user gives this secret a value for this host, in a sentence without any value. ``what``: that it is the value of."""
        ...


PREFIX = "FOOTPATH_SECRET_"


def variable(name: str) -> str:
    """The environment variable of a secret: upper case, everything but A-Z, 0-9 as an underscore."""
    return PREFIX + re.sub(r"[^A-Z0-9]", "_", name.upper())


class EnvironmentSecrets:
    """``FOOTPATH_SECRET_<NAME>`` is the value, ``FOOTPATH_SECRET_<NAME>_HOSTS`` the hosts, comma-separated.

    A host stands alone (any port), with a port, or as ``http://host``, which allows it to be sent unencrypted. On loopback
    addresses that is always allowed. Spaces around a value (a line break at the end of a file) are no part of it.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = {
            key.upper(): text.strip() for key, text in variables.items() if key.upper().startswith(PREFIX)
        }

    def __repr__(self) -> str:
        return f"EnvironmentSecrets({', '.join(sorted(self._variables))})"

    async def has(self, name: str) -> bool:
        """Whether the variable is set and not empty."""
        return bool(self._variables.get(variable(name)))

    async def value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """The value for this host; None where the variable is not set. Raises ``SecretError``."""
        key = variable(name)
        found = self._variables.get(key)
        if not found:
            return None
        hosts = self._variables.get(f"{key}_HOSTS", "").split(",")
        check_host(name, hosts, host, port, encrypted=encrypted, where=f"{key}_HOSTS")
        return found

    async def refused(self, name: str, value: str) -> bool:  # noqa: ARG002  # what stands in the environment stays
        """Never: it is what it is."""
        return False

    def advice(self, name: str, host: str, port: int, what: str = "a key") -> str:
        """The two variables to set."""
        key = variable(name)
        return f"{what} is needed: set {key} to it and {key}_HOSTS to {_place(host, port)}"


def check_host(name: str, hosts: Iterable[str], host: str, port: int, *, encrypted: bool, where: str) -> None:
    """Whether a secret with these hosts may be sent to this one; ``where``: what holds the hosts, for the message.

    Raises ``SecretError`` where it may not, or not unencrypted.
    """
    place = _place(host, port)
    if host.startswith(STDIO):
        encrypted = True  # nothing leaves this machine
    entries = [entry.strip().lower() for entry in hosts]
    plain = {entry.removeprefix("http://").rstrip("/") for entry in entries if entry.startswith("http://")}
    any_scheme = {entry.removeprefix("https://").rstrip("/") for entry in entries} | plain
    if not _names(place) & any_scheme:
        raise SecretError(f"the secret {name} is not allowed for {place}; if it belongs there, add {place} to {where}")
    if not (encrypted or _names(place) & plain or _loopback(host)):
        raise SecretError(
            f"the secret {name} is not sent to {place} over http; use https, or add http://{place} to {where}"
        )


def _place(host: str, port: int) -> str:
    if host.startswith(STDIO):
        return host
    name = host.lower().rstrip(".")
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _names(place: str) -> set[str]:
    return {place} if place.startswith(STDIO) else {place, place.rpartition(":")[0]}


def _loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
