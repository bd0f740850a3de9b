"""Identities of calls, by which a run tells a repeated call from a second one.

A call outside of programs is identified by its tool and arguments. A program's call has in addition its place in the
program's text and the number of times that place was reached with the same arguments.
"""

import json
from hashlib import sha256

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import ToolId

CallKey = tuple[ToolId, str, str]
"""Tool, arguments as JSON text, and identity of a call; the identity is empty outside of programs."""
_DIGEST_LENGTH = 10


def build_call_key(tool: ToolId, arguments: JsonObject, identity: str = "") -> CallKey:
    """Build the key under which two calls are the same."""
    return tool, json.dumps(arguments, sort_keys=True), identity


def is_different_json(value: JsonValue, other_value: JsonValue) -> bool:
    """Return whether two values differ as JSON; unlike in Python, 1 and true are different."""
    return json.dumps(value, sort_keys=True) != json.dumps(other_value, sort_keys=True)


def drop_identity(key: CallKey) -> CallKey:
    """Return the key for the same tool and arguments without an identity."""
    return key[0], key[1], ""


def build_call_site(program: int, place: int, occurrence: int, arguments: JsonObject, cells_back: int = 0) -> str:
    """Build the name of a program's call within its subtask: ``program:place~back#occurrence-digest``.

    Occurrences are counted separately for each set of arguments, and a digest of the arguments is part of the name, so
    that concurrent calls get the same names in whatever order their answers arrive.

    ``occurrence`` is the number of earlier visits to the place with the same arguments; ``cells_back`` is the number of cells
    between the current one and the one whose text holds the place.
    """
    digest = sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
    return f"{program}:{place}{f'~{cells_back}' if cells_back else ''}#{occurrence}-{digest[:_DIGEST_LENGTH]}"


def build_call_identity(subtask: int, site: str) -> str:
    """Build the identity of a call within its run from its site in a subtask; empty for a call outside of programs."""
    return f"{subtask}:{site}" if site else ""


def build_corrected_identity(tool: ToolId, arguments: JsonObject, identity: str) -> str:
    """Return the identity under which a corrected call is made.

    A program's call keeps its own. Any other call gets one derived from its original arguments, so that two calls
    corrected to the same arguments remain two.
    """
    return identity or f"corrected-{sha256(json.dumps([tool, arguments], sort_keys=True).encode()).hexdigest()}"


def get_program_id(identity: str) -> str:
    """Return the id of the program that a call belongs to, ``subtask:program``.

    It is empty for a call outside of programs.
    """
    return identity.rpartition(":")[0]


def get_subtask_id(program: str) -> str:
    """Return the subtask part of a program id."""
    return program.partition(":")[0]


def build_program_id(identity: str, number: int) -> str:
    """Build the id of another program of the same subtask from its number."""
    return f"{get_subtask_id(identity)}:{number}"
