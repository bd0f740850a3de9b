"""What an agent with nothing but a list of tools is told, and how it replies: the same words whatever tools it has."""

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
    """What a client is told of a server when it connects. ``tools``: each as the protocol lists it."""

    tools: tuple[JsonObject, ...]
    instructions: str = ""

    @property
    def text(self) -> str:
        """As it stands in a model's context."""
        listed = "\n".join(json.dumps(one, ensure_ascii=False) for one in self.tools)
        return f"{listed}\n\n{self.instructions}" if self.instructions else listed


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that is asked for."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Ended:
    """The end. ``served`` False: it says that it cannot."""

    text: str
    served: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply in none of the forms, with what to tell the model."""

    why: str


def told(tools: ClientTools, today: date) -> str:
    """The message that stands before every conversation; the same for each, so that what serves the model can keep it."""
    return _TOLD.format(today=f"{today:%A}, {today.isoformat()}", tools=tools.text)


def read(reply: str) -> Wanted | Ended | Unreadable:
    """A model's reply; a fence of Markdown around it is taken off."""
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
