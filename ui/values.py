"""Values as people type them, by the JSON Schema of their parameter."""

import json

from pydantic import JsonValue

from domain.model import JsonObject
from ui.language import say

_FIELDS = 8
"""Fields of an object that are named."""


def typed(text: str, schema: JsonObject) -> JsonValue:
    """What was typed: text where text is asked for, else JSON; what cannot be read stays text, and the server says what is wrong with it."""
    if kind_of(schema) == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown(value: JsonValue) -> str:
    """As it would be typed."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def kind_of(schema: JsonObject) -> str:
    """The schema's type; of several the first that is not null, ``string`` where it names none."""
    named = schema.get("type", "string")
    names = named if isinstance(named, list) else [named]
    return next((name for name in names if isinstance(name, str) and name != "null"), "string")


def choices_of(schema: JsonObject) -> list[JsonValue]:
    """The values that may be chosen from, where there are only so many."""
    listed = schema.get("enum")
    if isinstance(listed, list) and listed:
        return listed
    return [True, False] if kind_of(schema) == "boolean" else []


def properties_of(schema: JsonObject) -> dict[str, JsonObject]:
    """Parameters and their schemas."""
    named = schema.get("properties")
    return {name: one for name, one in named.items() if isinstance(one, dict)} if isinstance(named, dict) else {}


def required_of(schema: JsonObject) -> set[str]:
    """The names of those that must be there."""
    listed = schema.get("required")
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def hint_of(schema: JsonObject) -> str:
    """What is expected, in a word or two, where it is not text: ``a number, 1 to 10``."""
    kinds = {
        "integer": say("a whole number"),
        "number": say("a number"),
        "array": say("a list as JSON"),
        "object": say("an object as JSON"),
    }
    kind = kinds.get(kind_of(schema), "")
    if fields := list(properties_of(schema)) if kind_of(schema) == "object" else []:
        shape = ", ".join(f'"{name}": …' for name in fields[:_FIELDS])
        kind = say("as JSON: {shape}", shape=f"{{{shape}}}")
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        bounds = say("{least} to {most}", least=shown(least), most=shown(most))
        return say("{kind}, {bounds}", kind=kind, bounds=bounds) if kind else bounds
    return kind
