"""Prompt and reply format of an agent that has nothing but a list of tools; the same text for any tools."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from pydantic.types import JsonValue

from domain.model import JsonObject

_TOLD = """You serve a user's request with the tools below. Today is {today}.
Reply with one JSON object and nothing else, in one of three forms:
{{"tool": NAME, "arguments": {{…}}}} calls one tool. You are then told what it answered.
{{"answer": TEXT}} ends with the answer: short, stating each value that was asked for, as the tools gave it.
{{"cannot": WHY}} ends where what was asked for does not exist or no tool can tell it.
Every value must come from what tools answered, none from memory. Do sums only where no tool does them.

Tools, each as JSON:
{tools}
"""


@dataclass(frozen=True, slots=True)
class ClientTools:
    """Instructions and tools that a client receives from a server when it connects."""

    tools: tuple[JsonObject, ...]
    """Each as the protocol lists it."""
    instructions: str = ""

    @property
    def text(self) -> str:
        """The text that goes into a model's context."""
        listed = "\n".join(json.dumps(one, ensure_ascii=False) for one in self.tools)
        return f"{listed}\n\n{self.instructions}" if self.instructions else listed


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tool call that the model requests."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Ended:
    """The model's final reply."""

    text: str
    served: bool
    """False: the model says that it cannot serve the request."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply in none of the three forms."""

    why: str
    """The message to send back to the model."""


def told(tools: ClientTools, today: date) -> str:
    """Return the system message; it is the same for every conversation, so that a server can cache its prefix."""
    return _TOLD.format(today=f"{today:%A}, {today.isoformat()}", tools=tools.text)


def read(reply: str) -> Wanted | Ended | Unreadable:
    """Parse a model's reply; a Markdown fence around it is removed."""
    found = _object(reply)
    if found is None:
        return Unreadable("That was not one JSON object. Reply with one, in one of the three forms.")
    match found:
        case {"tool": str(tool), **rest}:
            arguments = rest.get("arguments") or {}
            if isinstance(arguments, Mapping):
                return Wanted(tool, dict(arguments))
            return Unreadable('"arguments" must be an object.')
        case {"answer": (str() | int() | float() | list() | dict()) as answer}:
            return Ended(_text(answer), served=True)
        case {"cannot": str(why)}:
            return Ended(why, served=False)
        case _:
            return Unreadable('The object has none of "tool", "answer" and "cannot".')


def _object(reply: str) -> dict[str, JsonValue] | None:
    text = reply.strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(answer: str | float | Sequence[JsonValue] | Mapping[str, JsonValue]) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
