"""Which call is which: outside of programs a call is its tool and arguments; a program's is also a place in its text, come by so many times."""

import json
from hashlib import sha256

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import ToolId

Key = tuple[ToolId, str, str]
"""A call: the tool, its arguments as JSON text, and its identity, which is empty outside of programs."""
_DIGITS = 10


def key_of(tool: ToolId, arguments: JsonObject, identity: str = "") -> Key:
    """What makes two calls the same."""
    return tool, json.dumps(arguments, sort_keys=True), identity


def differs(value: JsonValue, other: JsonValue) -> bool:
    """Whether two values are sent differently: 1 is not true."""
    return json.dumps(value, sort_keys=True) != json.dumps(other, sort_keys=True)


def unnamed(key: Key) -> Key:
    """The same tool and arguments, whoever calls."""
    return key[0], key[1], ""


def site_of(program: int, place: int, occurrence: int, arguments: JsonObject, back: int = 0) -> str:
    """A call of a program, as its subtask's events name it. ``occurrence``: how often it came by there with the same arguments before.
    ``back``: the text is that of so many cells before.

    Counted by arguments, and told apart by them: calls made side by side have the same names in whatever order their answers come.
    """
    digest = sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
    return f"{program}:{place}{f'~{back}' if back else ''}#{occurrence}-{digest[:_DIGITS]}"


def identity_of(subtask: int, site: str) -> str:
    """The same within its run; empty for a call of no program."""
    return f"{subtask}:{site}" if site else ""


def corrected_as(tool: ToolId, arguments: JsonObject, identity: str) -> str:
    """By which identity a call is made that its user corrected: a program's keeps its own. Any other gets one of what it was to be, so that two
    that are corrected into the same stay two.
    """
    return identity or f"corrected-{sha256(json.dumps([tool, arguments], sort_keys=True).encode()).hexdigest()}"


def program_of(identity: str) -> str:
    """The subtask and program that a call belongs to; empty for one of no program."""
    return identity.rpartition(":")[0]


def subtask_of(program: str) -> str:
    """The subtask of what ``program_of`` says."""
    return program.partition(":")[0]


def program_with(identity: str, number: int) -> str:
    """What ``program_of`` says of the program of this number, of the same subtask."""
    return f"{subtask_of(identity)}:{number}"
