"""Convert the result of a call for its program: to a value, an error that it can catch, or the end of the program."""

import json
import re
from typing import NoReturn

import orjson
from pydantic.types import JsonValue

from agent.programs.protocol import CallFailure, ProgramError
from agent.text import clean
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import MAX_CHARACTERS, is_too_deep, read_value

_MAX_DEPTH = 60
"""Maximum nesting of a value; a deeper one is passed on as the original text."""
_REASON = 160
"""Maximum number of characters of a failed call's reason."""
_LONG_INTEGER = re.compile(r"\d{19}")
"""Matches whole numbers that may exceed 64 bits, which ``orjson`` would turn into floats."""
_CUT_NOTE = "cut at "
"""Start of the note on a response that was longer than what was read."""


def to_answer(tool: ToolDoc, result: StepResult) -> JsonValue | CallFailure:
    """Return the whole response as a value, or a failure with the status and the reason.

    JSON becomes the value that it holds, an empty response None, and anything else text. A response that was cut or is
    too long to parse is a failure: the program must not continue with a part as if it were the whole.
    """
    if result.status != "ok":
        return CallFailure(_describe_failure(tool, result))
    value = _parse_value(result.response)
    unreadable = isinstance(value, str) and result.response.lstrip()[:1] in ("{", "[")
    if len(result.response) > MAX_CHARACTERS or (
        _CUT_NOTE in result.note and (unreadable or not _is_complete(result.response))
    ):
        return CallFailure(f"{clean(tool.api, 80)} answered more than can be read at once; ask it for less")
    return value


def find_final_error(tool: ToolDoc, result: StepResult, line: int) -> ProgramError | None:
    """Return the error that ends the program and that it cannot catch; None if the program may continue.

    A program ends if a call was not allowed, if no value was found for an argument that the text leaves open, or if it
    is not known whether a change took effect. ``line``: line of the call in the program's text.
    """
    if result.status == "skipped":
        return ProgramError("NotAllowedError", result.note, line, final=True)
    if result.status == "missing":
        return ProgramError("MissingValueError", result.note, line, final=True)
    if result.status == "unknown" and not tool.safe:
        note = result.note or "Nobody knows whether it took effect."
        return ProgramError("UnknownOutcomeError", f"{clean(tool.api, 80)}: {note}", line, final=True)
    return None


def _describe_failure(tool: ToolDoc, result: StepResult) -> str:
    """Return the message of a failed call: its tool, its status and a shortened reason."""
    status = f"HTTP {result.http_status}" if result.http_status else result.outcome or result.status
    # Without an attempt, the note is our own complaint about the arguments, which the author needs in full.
    reason = clean(result.note, _REASON if result.attempts else 4 * _REASON)
    return f"{clean(tool.api, 80)}: {status}{': ' + reason if reason else ''}"


def _parse_value(text: str) -> JsonValue:
    """Parse a response as JSON, tolerating small defects; return it as text where that fails."""
    if not text.strip():
        return None
    value: JsonValue
    try:
        # `orjson` is faster, but loses the digits of integers beyond 64 bits.
        value = json.loads(text, parse_constant=_reject_constant) if _LONG_INTEGER.search(text) else orjson.loads(text)
    except (ValueError, RecursionError):
        value = read_value(text)
        if value is None:
            return text
    return text if is_too_deep(value, _MAX_DEPTH) else value


def _reject_constant(name: str) -> NoReturn:
    """Reject ``NaN`` and ``Infinity``, which :mod:`json` would accept."""
    raise ValueError(f"{name} is no JSON")


def _is_complete(text: str) -> bool:
    """Return True if a text is complete JSON, or is not JSON at all."""
    try:
        orjson.loads(text)
    except (orjson.JSONDecodeError, ValueError):
        return text.lstrip()[:1] not in ("{", "[")
    return True
