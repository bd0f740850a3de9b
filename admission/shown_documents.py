"""Rendering of a tool's document for a judge: name, description, parameters, nested fields, known answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import cast

from pydantic.types import JsonValue

from agent.text import clean
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.lenient_json import read_value

_DESCRIPTION, _PARAMETER = 600, 120
_PARAMETERS, _FIELDS = 15, 12
_DEPTH = 4
_NODES = 500
"""Parts of one schema that are looked at. Alternatives that refer to each other multiply."""


def shown(tool: ToolDoc) -> str:
    """Render a document in a few lines of bounded length."""
    parameters = [line for one in tool.parameters[:_PARAMETERS] for line in _parameter(one)]
    known = "yes" if tool.response_schema or tool.example_response or tool.learnt_response else "no"
    head = f"{tool.api[:120]} of {tool.toolset[:80]} ({tool.method})"
    return "\n".join([head, f"  {clean(tool.description, _DESCRIPTION)}", *parameters, f"  answer described: {known}"])


def _parameter(one: Parameter) -> Iterator[str]:
    """Yield the line of a parameter, then those of its fields."""
    yield f"  {_line(one.name, one.type, one.description, required=one.required)}"
    schema = read_value(one.json_schema) if one.json_schema else None
    if isinstance(schema, dict):
        yield from (f"    {line}" for line in islice(_Fields(schema).of(schema, "", _DEPTH), _FIELDS))


@dataclass(slots=True)
class _Fields:
    """Lister of the fields of one schema. References are followed within it."""

    root: JsonObject
    left: int = _NODES
    """Parts that may still be visited."""

    def of(self, node: JsonValue, path: str, depth: int) -> Iterator[str]:
        """Yield the lines of an object's fields, of a list's items and of every alternative."""
        self.left -= 1
        node = _resolved(node, self.root)
        if not isinstance(node, dict) or depth <= 0 or self.left < 0:
            return
        needed, properties = node.get("required"), node.get("properties")
        for name, field in properties.items() if isinstance(properties, dict) else ():
            described = _resolved(field, self.root)
            told = described if isinstance(described, dict) else {}
            place = f"{path}.{name}" if path else name
            required = isinstance(needed, list) and name in needed
            yield _line(place, str(told.get("type", "any")), str(told.get("description", "")), required=required)
            yield from self.of(told, place, depth - 1)
        yield from self.of(node.get("items"), f"{path}[]", depth - 1)
        for way in ("allOf", "anyOf", "oneOf"):
            options = node.get(way)
            for option in options if isinstance(options, list) else ():
                yield from self.of(option, path, depth - 1)


def _resolved(node: JsonValue, root: JsonObject) -> JsonValue:
    """Return the target of a reference within the schema, one step; else the node itself."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return node
    found: JsonValue = root
    for part in reference[2:].split("/"):
        found = cast("JsonObject", found).get(part) if isinstance(found, dict) else None
    return found


def _line(name: str, kind: str, text: str, *, required: bool) -> str:
    described = clean(text, _PARAMETER)
    return f"{clean(name, 60)} ({clean(kind, 20)}{', required' if required else ''})" + (
        f": {described}" if described else ""
    )
