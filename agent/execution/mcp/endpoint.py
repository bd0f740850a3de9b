"""Whom a call goes to: a server by its address, with the caller's own keys, and by whose leave."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from agent.execution.http.credentials import Keyed, keyed
from agent.execution.http.guard import Guard
from agent.execution.http.request import Outgoing
from agent.execution.mcp.parameters import Command
from agent.execution.redaction import Redactor
from agent.execution.secrets import Secrets
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.plan import Binding
from domain.tool import STDIO, ToolDoc


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``place``: what its limits and messages are about. ``key``: the same for calls that may share a session.

    ``command``: what is started for it, and None of one that is connected to. ``environment``: the caller's keys, for that command.
    ``sent``: names of secrets with their values.
    """

    place: str
    key: tuple[str, ...]
    url: str = field(default="", repr=False)
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    command: Command | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    redactor: Redactor = field(default_factory=Redactor)
    bindings: tuple[Binding, ...] = ()
    advice: tuple[str, ...] = ()
    sent: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def keyed(self) -> bool:
        """Whether a key of the caller goes along."""
        return bool(self.bindings)


async def endpoint_of(
    tool: ToolDoc, guard: Guard, secrets: Secrets, owner: str, commands: Mapping[str, Command]
) -> Endpoint:
    """The endpoint of a tool for one owner of keys. Nothing has been sent yet.

    Raises:
        ForbiddenAddressError: the address may not be called. InvalidArgumentsError: there is none, or no such command is allowed.
        SecretError: a required key is not there, or may not go there.
    """
    if not tool.url:
        raise InvalidArgumentsError(f"{tool.api} is known by its document only and has no address: give its server's")
    if tool.url.startswith(STDIO):
        return await _started(tool, secrets, owner, commands)
    guard.check_url(tool.url)
    try:
        httpx.URL(tool.url)
    except (httpx.InvalidURL, ValueError) as error:  # a host's name that cannot be encoded is a ValueError
        raise ForbiddenAddressError(f"the server's address cannot be read ({error}); correct it") from None
    sent: Keyed = await keyed(Outgoing("POST", tool.url), tool, secrets)
    return Endpoint(
        place=tool.host,
        key=(tool.url, owner, sent.caller),
        url=sent.request.url,
        headers=sent.request.headers,
        redactor=sent.redactor,
        bindings=sent.bindings,
        advice=sent.advice,
        sent=sent.sent,
    )


async def _started(tool: ToolDoc, secrets: Secrets, owner: str, commands: Mapping[str, Command]) -> Endpoint:
    name = tool.url.removeprefix(STDIO)
    command = commands.get(name)
    if command is None:
        known = ", ".join(sorted(commands)) or "none"
        raise InvalidArgumentsError(
            f"no command is called {name[:100]!r}; an administrator allows commands by FOOTPATH_MCP_COMMANDS (there are: {known})"
        )
    environment: dict[str, str] = {}
    bindings: list[Binding] = []
    for credential in tool.credentials:
        if credential.name not in command.keys:
            raise SecretError(
                f"the command {name} takes no key as {credential.name[:100]}; an administrator names those it takes in FOOTPATH_MCP_COMMANDS"
            )
        value = await secrets.value(credential.secret, tool.url, 0, encrypted=True)
        if value is None and credential.required:
            raise SecretError(secrets.advice(credential.secret, tool.url, 0))
        if value is not None:
            environment[credential.name] = credential.prefix + value
            bindings.append(Binding(parameter=credential.name, origin="secret", reference=credential.secret))
    values = list(environment.values())
    return Endpoint(
        place=tool.url,
        key=(tool.url, owner, *values),
        command=command,
        environment=environment,
        redactor=Redactor([*values, *command.environment.values()]),
        bindings=tuple(bindings),
    )
