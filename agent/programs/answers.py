"""What a call's result is within the program that made it: a value, an error that it can catch, or its end."""

import json
import re
from typing import NoReturn

import orjson
from pydantic.types import JsonValue

from agent.programs.protocol import Broken, Failure
from agent.text import clean
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import MAX_CHARACTERS, read_value, too_deep

_DEEPEST = 60
"""Levels of a value; what is deeper is given as the text that it is."""
_REASON = 160
"""Characters of a failed call's reason."""
_BEYOND = re.compile(r"\d{19}")
"""In whole numbers of more than 64 bits, which ``orjson`` makes fractions of."""
_CUT = "cut at "
"""What the note of a response begins with of which there was more than is read."""


def answer_of(tool: ToolDoc, result: StepResult) -> JsonValue | Failure:
    """The whole response as a value: JSON as what it holds, nothing as None, all else as text. A failure says its status and why."""
    if result.status != "ok":
        return Failure(_failed(tool, result))
    value = _value(result.response)
    unreadable = isinstance(value, str) and result.response.lstrip()[:1] in ("{", "[")
    if len(result.response) > MAX_CHARACTERS or (_CUT in result.note and (unreadable or not _whole(result.response))):
        return Failure(f"{clean(tool.api, 80)} answered more than can be read at once; ask it for less")
    return value


def final(tool: ToolDoc, result: StepResult, line: int) -> Broken | None:
    """The end of the program, which nothing in it can catch: its call was not allowed, lacks a value that is to be found, or nobody
    knows whether it took effect.
    """
    if result.status == "skipped":
        return Broken("NotAllowedError", result.note, line, final=True)
    if result.status == "missing":
        return Broken("MissingValueError", result.note, line, final=True)
    if result.status == "unknown" and not tool.safe:
        note = result.note or "Nobody knows whether it took effect."
        return Broken("UnknownOutcomeError", f"{clean(tool.api, 80)}: {note}", line, final=True)
    return None


def _failed(tool: ToolDoc, result: StepResult) -> str:
    status = f"HTTP {result.http_status}" if result.http_status else result.outcome or result.status
    reason = clean(result.note, _REASON if result.attempts else 4 * _REASON)
    return f"{clean(tool.api, 80)}: {status}{': ' + reason if reason else ''}"


def _value(text: str) -> JsonValue:
    if not text.strip():
        return None
    value: JsonValue
    try:
        value = json.loads(text, parse_constant=_no_number) if _BEYOND.search(text) else orjson.loads(text)
    except (ValueError, RecursionError):
        value = read_value(text)
        if value is None:
            return text
    return text if too_deep(value, _DEEPEST) else value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _whole(text: str) -> bool:
    """Whether a text is JSON with its end, or none at all."""
    try:
        orjson.loads(text)
    except (orjson.JSONDecodeError, ValueError):
        return text.lstrip()[:1] not in ("{", "[")
    return True
