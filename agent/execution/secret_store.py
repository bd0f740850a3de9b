"""Named secrets: keys that calls send, each to its own hosts only.

A tool document, which is untrusted text, names a secret, and its value comes from the environment or a vault. If the
name alone were enough, a hostile document could name somebody else's key and have it sent to its own host. So every
secret has a list of hosts, set together with its value.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Protocol

from domain.errors import SecretError
from domain.tool import STDIO


class SecretStore(Protocol):
    """Source of secret values: the environment, a vault."""

    async def has(self, name: str) -> bool:
        """Return whether a secret of this name exists, regardless of its hosts."""
        ...

    async def get_value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """Return the value to send to this host; None if there is no such secret.

        Raises:
            SecretError: it may not be sent there, or not unencrypted; the message says how to allow it.
        """
        ...

    async def replace_refused(self, name: str, value: str) -> bool:
        """Replace a value that a host refused (401) and return whether there is a new one, so that a retry may help.

        Raises:
            SecretError: a new value should have been obtained but was not.
        """
        ...

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        """Describe how a user sets this secret for this host; ``needed`` names the value that is needed."""
        ...


VARIABLE_PREFIX = "FOOTPATH_SECRET_"


def to_variable_name(name: str) -> str:
    """Return the environment variable of a secret: upper case, with an underscore for all but A-Z and 0-9."""
    return VARIABLE_PREFIX + re.sub(r"[^A-Z0-9]", "_", name.upper())


class EnvironmentSecrets:
    """Secrets in environment variables.

    ``FOOTPATH_SECRET_<NAME>`` holds the value and ``FOOTPATH_SECRET_<NAME>_HOSTS`` its hosts, separated by commas. A
    host without a port stands for any port. ``http://host`` also allows unencrypted requests, which are always
    allowed to loopback addresses. White space around values, such as the line break at the end of a file, is removed.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = {
            key.upper(): text.strip() for key, text in variables.items() if key.upper().startswith(VARIABLE_PREFIX)
        }

    def __repr__(self) -> str:
        return f"EnvironmentSecrets({', '.join(sorted(self._variables))})"

    async def has(self, name: str) -> bool:
        """Return whether the variable is set and not empty."""
        return bool(self._variables.get(to_variable_name(name)))

    async def get_value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """Return the value for this host; None if the variable is not set. Raises ``SecretError`` for other hosts."""
        key = to_variable_name(name)
        value = self._variables.get(key)
        if not value:
            return None
        hosts = self._variables.get(f"{key}_HOSTS", "").split(",")
        check_secret_host(name, hosts, host, port, encrypted=encrypted, setting=f"{key}_HOSTS")
        return value

    async def replace_refused(self, name: str, value: str) -> bool:  # noqa: ARG002  # variables do not change
        """Return False: an environment variable does not change."""
        return False

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        """Describe the two environment variables to set."""
        key = to_variable_name(name)
        return f"{needed} is needed: set {key} to it and {key}_HOSTS to {_format_host_port(host, port)}"


def check_secret_host(name: str, hosts: Iterable[str], host: str, port: int, *, encrypted: bool, setting: str) -> None:
    """Raise ``SecretError`` if a secret with these ``hosts`` may not be sent to this host, or not unencrypted.

    ``setting`` names the setting that holds the hosts, for the message.
    """
    host_port = _format_host_port(host, port)
    if host.startswith(STDIO):
        encrypted = True  # nothing leaves this machine
    entries = [entry.strip().lower() for entry in hosts]
    unencrypted_hosts = {entry.removeprefix("http://").rstrip("/") for entry in entries if entry.startswith("http://")}
    allowed_hosts = {entry.removeprefix("https://").rstrip("/") for entry in entries} | unencrypted_hosts
    if not _list_host_forms(host_port) & allowed_hosts:
        raise SecretError(
            f"the secret {name} is not allowed for {host_port}; if it belongs there, add {host_port} to {setting}"
        )
    if not (encrypted or _list_host_forms(host_port) & unencrypted_hosts or _is_loopback(host)):
        raise SecretError(
            f"the secret {name} is not sent to {host_port} over http; use https, or add http://{host_port} to {setting}"
        )


def _format_host_port(host: str, port: int) -> str:
    if host.startswith(STDIO):
        return host
    name = host.lower().rstrip(".")
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _list_host_forms(host_port: str) -> set[str]:
    return {host_port} if host_port.startswith(STDIO) else {host_port, host_port.rpartition(":")[0]}


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
