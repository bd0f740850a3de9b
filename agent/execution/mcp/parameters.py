"""Settings of the MCP client: its limits, and the commands that may be started as servers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.execution.http import HttpParameters

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """Command that an administrator allows to be started as a server."""

    words: tuple[str, ...]
    """Command line as words; no shell is used."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Environment variables of the command, in addition to a bare PATH and LANG."""
    keys: frozenset[str] = frozenset()
    """Names of the variables in which a caller's own keys may be passed."""
    folder: str | None = None
    """Working directory; None for that of this process."""
    memory: int = 2048 * MIB
    """Most bytes of data (``RLIMIT_DATA``) for each of its processes."""
    cpu: int = 3600
    """Most seconds of CPU time for each of its processes."""
    file: int = 1024 * MIB
    """Most bytes of a file that its processes may write."""


@dataclass(frozen=True, slots=True)
class McpParameters:
    """Limits of calls, sessions and listings."""

    http: HttpParameters = field(default_factory=HttpParameters)
    """Limits of a call, the same as for calls over HTTP."""
    commands: Mapping[str, ServerCommand] = field(default_factory=dict[str, ServerCommand])
    """Commands that may be started, by the name after ``stdio:``."""
    sessions: int = 64
    """Most sessions that may be open at once, including those in use."""
    idle: float = 120.0
    """Seconds after which an unused session is closed."""
    pages: int = 50
    """Most pages of one listing that are read."""
    listing_limit: int = 8_388_608
    """Most bytes of one listing, all pages together."""
