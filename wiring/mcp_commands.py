"""MCP servers that an administrator allows to be started (``FOOTPATH_MCP_COMMANDS``): JSON, commands by name."""

import re
import shlex
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class McpCommand(BaseModel):
    """Command that starts an MCP server."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    command: tuple[str, ...]
    """Its words, or a line that is split into words; no shell ever reads it."""
    environment: tuple[str, ...] = ()
    """Names of this process's variables that it may see."""
    keys: tuple[str, ...] = ()
    """Variables that carry the keys of the caller."""
    folder: str | None = None
    """Folder in which it is started."""
    memory: Annotated[int, Field(ge=16, le=1_048_576)] = 2048
    """MiB of data that each of its processes may take."""
    cpu: Annotated[int, Field(ge=1, le=1_000_000)] = 3600
    """Seconds of processor time that each of its processes may take."""
    file: Annotated[int, Field(ge=0, le=1_048_576)] = 1024
    """MiB that one written file may have."""

    @model_validator(mode="before")
    @classmethod
    def _expand_short_form(cls, value: object) -> object:
        short = isinstance(value, str) or type(value) is list
        return {"command": cast(object, value)} if short else cast(object, value)

    @field_validator("command", mode="before")
    @classmethod
    def _split_words(cls, value: object) -> object:
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("command")
    @classmethod
    def _require_program_path(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not value[0].startswith("/"):
            raise ValueError('a command begins with the whole path of a program, as in "/usr/bin/my-server --quiet"')
        return value

    @field_validator("environment", "keys")
    @classmethod
    def _check_variables(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [name for name in value if not _VARIABLE.fullmatch(name) or name.startswith("FOOTPATH_")]:
            raise ValueError(f"{wrong[0][:100]!r} is no variable that a command may be given")
        return value


def check_command_names(value: dict[str, McpCommand]) -> dict[str, McpCommand]:
    """Check that every name can be part of an address, as in ``stdio:NAME``, and return the commands."""
    if wrong := [name for name in value if not _NAME.fullmatch(name)]:
        raise ValueError(f"{wrong[0][:100]!r} is no name of a command: 1 to 64 of a-z, 0-9, '.', '_', '-'")
    return value
