"""How servers of the Model Context Protocol are spoken with, and which of them may be started."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.execution.http import HttpParameters

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """A server that an administrator allows to be started: its command line, word by word, and no shell.

    ``environment``: all that it sees beside a bare PATH. ``keys``: names of variables that a caller's own keys may be given in. ``memory``, ``cpu``,
    ``file``: bytes of data, seconds of computing, and bytes of one written file that each of its processes may take.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    keys: frozenset[str] = frozenset()
    folder: str | None = None
    memory: int = 2048 * MIB
    cpu: int = 3600
    file: int = 1024 * MIB


@dataclass(frozen=True, slots=True)
class McpParameters:
    """``http``: limits that hold for calls, whichever way they are made. ``commands``: by the name after ``stdio:``.

    ``sessions``: that are open at once, those in use included; ``idle``: seconds after which one that nobody uses is closed.
    ``pages``, ``listing_limit``: of one listing, and its bytes in all.
    """

    http: HttpParameters = field(default_factory=HttpParameters)
    commands: Mapping[str, Command] = field(default_factory=dict[str, Command])
    sessions: int = 64
    idle: float = 120.0
    pages: int = 50
    listing_limit: int = 8_388_608
