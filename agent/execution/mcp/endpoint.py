"""Destination of an MCP call: a server's address or an allowed command, with the caller's keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from agent.execution.http.credentials import KeyedRequest, add_credentials
from agent.execution.http.guard import AddressGuard
from agent.execution.http.request import OutgoingRequest
from agent.execution.mcp.parameters import ServerCommand
from agent.execution.redaction import Redactor
from agent.execution.secret_store import SecretStore
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.plan import Binding
from domain.tool import STDIO, ToolDoc


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """Destination of a call, with all that is needed to open a session."""

    place: str
    """Name of the server in messages, and the unit of its rate limits."""
    key: tuple[str, ...]
    """Key of the session, equal for calls that may share one; it includes the owner and the caller's keys."""
    url: str = field(default="", repr=False)
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    command: ServerCommand | None = None
    """Command to start; None for a server at an address."""
    environment: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Environment variables of the command that hold the caller's keys."""
    redactor: Redactor = field(default_factory=Redactor)
    bindings: tuple[Binding, ...] = ()
    advice: tuple[str, ...] = ()
    sent_secrets: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Names of the secrets that are sent, with their values."""

    @property
    def has_key(self) -> bool:
        """True if a key of the caller is sent."""
        return bool(self.bindings)


async def resolve_endpoint(
    tool: ToolDoc, guard: AddressGuard, secrets: SecretStore, owner: str, commands: Mapping[str, ServerCommand]
) -> McpEndpoint:
    """Return the endpoint of a tool for one owner of keys, without sending anything.

    Raises:
        ForbiddenAddressError: the address may not be called.
        InvalidArgumentsError: the tool has no address, or the command is not allowed.
        SecretError: a required key is missing, or may not be sent to this server.
    """
    if not tool.url:
        raise InvalidArgumentsError(f"{tool.api} is known by its document only and has no address: give its server's")
    if tool.url.startswith(STDIO):
        return await _resolve_command(tool, secrets, owner, commands)
    guard.check_url(tool.url)
    try:
        httpx.URL(tool.url)
    except (httpx.InvalidURL, ValueError) as error:  # a host's name that cannot be encoded is a ValueError
        raise ForbiddenAddressError(f"the server's address cannot be read ({error}); correct it") from None
    keyed_request: KeyedRequest = await add_credentials(OutgoingRequest("POST", tool.url), tool, secrets)
    return McpEndpoint(
        place=tool.host,
        key=(tool.url, owner, keyed_request.caller_digest),
        url=keyed_request.request.url,
        headers=keyed_request.request.headers,
        redactor=keyed_request.redactor,
        bindings=keyed_request.bindings,
        advice=keyed_request.advice,
        sent_secrets=keyed_request.sent_values,
    )


async def _resolve_command(
    tool: ToolDoc, secrets: SecretStore, owner: str, commands: Mapping[str, ServerCommand]
) -> McpEndpoint:
    """Return the endpoint of a tool whose server is started as a command."""
    name = tool.url.removeprefix(STDIO)
    command = commands.get(name)
    if command is None:
        allowed_names = ", ".join(sorted(commands)) or "none"
        raise InvalidArgumentsError(
            f"no command is called {name[:100]!r}; an administrator allows commands by FOOTPATH_MCP_COMMANDS (there are: {allowed_names})"
        )
    environment: dict[str, str] = {}
    bindings: list[Binding] = []
    for credential in tool.credentials:
        if credential.name not in command.keys:
            raise SecretError(
                f"the command {name} takes no key as {credential.name[:100]}; an administrator names those it takes in FOOTPATH_MCP_COMMANDS"
            )
        value = await secrets.get_value(credential.secret, tool.url, 0, encrypted=True)
        if value is None and credential.required:
            raise SecretError(secrets.build_advice(credential.secret, tool.url, 0))
        if value is not None:
            environment[credential.name] = credential.prefix + value
            bindings.append(Binding(parameter=credential.name, origin="secret", reference=credential.secret))
    values = list(environment.values())
    return McpEndpoint(
        place=tool.url,
        key=(tool.url, owner, *values),
        command=command,
        environment=environment,
        redactor=Redactor([*values, *command.environment.values()]),
        bindings=tuple(bindings),
    )
