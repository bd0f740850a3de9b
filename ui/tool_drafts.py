"""Tools that are written by hand: what was typed into fields, as the server takes it, and a tool that is there, as it would be typed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from domain.model import JsonObject
from ui.language import say
from ui.sources import Document, Input

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
TYPES = ("string", "integer", "number", "boolean", "array", "object")
LOCATIONS = ("query", "path", "header", "body", "cookie")
PLACES = ("header", "query", "cookie")


@dataclass(frozen=True)
class TypedInput:
    """A row of the table of parameters, as it was typed. ``choices``: the only values that it takes, comma-separated or as a JSON list."""

    name: str
    type: str = "string"
    location: str = "query"
    required: bool = False
    description: str = ""
    example: str = ""
    choices: str = ""


@dataclass(frozen=True)
class TypedTool:
    """A tool as it was typed. ``secret``: the name of the key that its calls send; empty: none. ``other_keys``: further ones, which have no fields."""

    name: str
    method: str = "GET"
    url: str = ""
    description: str = ""
    side_effect: str = ""
    answer: str = ""
    inputs: Sequence[TypedInput] = field(default_factory=tuple)
    secret: str = ""
    place: str = "header"
    sent_as: str = "Authorization"
    prefix: str = ""
    other_keys: Sequence[JsonObject] = field(default_factory=tuple)


def typed_as(document: Document) -> TypedTool:
    """A tool that was written by hand before, as it stands in the fields."""
    first, *others = document.credentials or [None]
    key = {"secret": first.secret, "place": first.place, "sent_as": first.name, "prefix": first.prefix} if first else {}
    return TypedTool(
        document.api,
        document.method,
        document.url,
        document.description,
        document.side_effect,
        document.example_response or "",
        [_row(one) for one in document.parameters],
        **key,
        other_keys=[one.model_dump(include={"secret", "place", "name", "prefix"}) for one in others if one],
    )


def _row(one: Input) -> TypedInput:
    plain = all(isinstance(choice, str) and choice == choice.strip() and "," not in choice for choice in one.enum)
    choices = ", ".join(map(str, one.enum)) if plain else text_of([*one.enum])
    return TypedInput(
        one.name,
        one.type,
        one.location,
        one.required,
        one.description,
        text_of(one.example),
        choices if one.enum else "",
    )


def text_of(value: JsonValue) -> str:
    """A value as it would be typed."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def value_of(text: str, kind: str) -> JsonValue:
    """What was typed, by its type; None of nothing. What is no JSON stays text, and the server says what is wrong with it."""
    if not text.strip():
        return None
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def tool_body(tool: TypedTool) -> JsonObject:
    """A tool as the server takes it; rows without a name are left out."""
    inputs: list[JsonValue] = [_input(one) for one in tool.inputs if one.name.strip()]
    credential: JsonObject = {
        "secret": tool.secret.strip(),
        "place": tool.place,
        "name": tool.sent_as.strip(),
        "prefix": tool.prefix,
    }
    return {
        "name": tool.name.strip(),
        "method": tool.method,
        "url": tool.url.strip(),
        "description": tool.description.strip(),
        "side_effect": tool.side_effect,
        "parameters": inputs,
        "credentials": [*([credential] if tool.secret.strip() else []), *tool.other_keys],
        **({"example_response": tool.answer.strip()} if tool.answer.strip() else {}),
    }


def missing_of(tools: Sequence[TypedTool]) -> list[str]:
    """What has to be said before the server is asked, in words."""
    told: list[str] = []
    for number, one in enumerate(tools, start=1):
        which = one.name.strip() or say("tool {number}", number=number)
        if not one.name.strip():
            told.append(say("{which} has no name", which=which))
        if not one.url.strip():
            told.append(say("{which} has no address", which=which))
        if not one.description.strip():
            told.append(say("{which} has no description: say what it answers and for which requests", which=which))
        paths = {name.strip() for name in _placeholders(one.url)}
        named = {row.name.strip() for row in one.inputs if row.location == "path"}
        told += [
            say("{which} has {{{name}}} in its address and no path parameter {name}", which=which, name=name)
            for name in sorted(paths - named)
        ]
        told += [
            say("{which} has a path parameter {name} that its address does not name", which=which, name=name)
            for name in sorted(named - paths)
            if name
        ]
    return told


def lines_of(text: str) -> list[str]:
    """The lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _placeholders(url: str) -> list[str]:
    return [part.partition("}")[0] for part in url.split("{")[1:] if "}" in part]


def _input(one: TypedInput) -> JsonObject:
    example = value_of(one.example, one.type)
    choices = _choices(one)
    return {
        "name": one.name.strip(),
        "type": one.type,
        "location": one.location,
        "required": one.required or one.location == "path",
        "description": one.description.strip(),
        **({"example": example} if example is not None else {}),
        **({"enum": choices} if choices else {}),
    }


def _choices(one: TypedInput) -> list[JsonValue]:
    listed = value_of(one.choices, "array") if one.choices.lstrip().startswith("[") else None
    if isinstance(listed, list):
        return listed
    return [value_of(choice.strip(), one.type) for choice in one.choices.split(",") if choice.strip()]
