"""Identities of calls.

Outside of programs, a call is its tool and arguments. A program's call is also a place in the program's text and the count of how often
it was reached with these arguments.
"""

import json
from hashlib import sha256

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import ToolId

CallKey = tuple[ToolId, str, str]
"""A call: the tool, its arguments as JSON text, and its identity, which is empty outside of programs."""
_DIGEST_LENGTH = 10


def build_call_key(tool: ToolId, arguments: JsonObject, identity: str = "") -> CallKey:
    """Build the key under which two calls are the same."""
    return tool, json.dumps(arguments, sort_keys=True), identity


def differs(value: JsonValue, other: JsonValue) -> bool:
    """Return whether two values are different JSON; unlike in Python, 1 is not true."""
    return json.dumps(value, sort_keys=True) != json.dumps(other, sort_keys=True)


def drop_identity(key: CallKey) -> CallKey:
    """Return the key without an identity: the same tool and arguments, whoever calls."""
    return key[0], key[1], ""


def build_site(program: int, place: int, occurrence: int, arguments: JsonObject, back: int = 0) -> str:
    """Build the name of a program's call within its subtask's events.

    Occurrences are counted for each set of arguments, and a digest of these is part of the name, so that concurrent calls have the same
    names in whatever order their answers arrive.

    ``occurrence``: how often the program reached the place with the same arguments before. ``back``: how many cells before the current
    one the text belongs to.
    """
    digest = sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
    return f"{program}:{place}{f'~{back}' if back else ''}#{occurrence}-{digest[:_DIGEST_LENGTH]}"


def build_identity(subtask: int, site: str) -> str:
    """Build the identity of a call within its run from its site in a subtask; empty for a call outside of programs."""
    return f"{subtask}:{site}" if site else ""


def build_corrected_identity(tool: ToolId, arguments: JsonObject, identity: str) -> str:
    """Return the identity under which a corrected call is made.

    A program's call keeps its own. Any other gets one from its original arguments, so that two calls corrected to the same arguments
    remain two.
    """
    return identity or f"corrected-{sha256(json.dumps([tool, arguments], sort_keys=True).encode()).hexdigest()}"


def get_program_id(identity: str) -> str:
    """Return the id of the program that a call belongs to, ``subtask:program``.

    It is empty for a call outside of programs.
    """
    return identity.rpartition(":")[0]


def get_subtask_id(program: str) -> str:
    """Return the subtask of a program id of ``get_program_id``."""
    return program.partition(":")[0]


def build_program_id(identity: str, number: int) -> str:
    """Return the program id of the program of this number in the same subtask."""
    return f"{get_subtask_id(identity)}:{number}"
