"""What all workflows of n8n have that are exported: how they start, their inputs with types and defaults, what is to be known of them."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from agent.exporting.exported import ExportedProgram
from agent.exporting.n8n_values import INPUTS, expression, literal
from domain.model import JsonObject

Node = dict[str, Any]

_TYPES = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
_APART = 220


def node(name: str, kind: str, version: float, parameters: Node, x: int = 0, y: int = 0) -> Node:
    """A node, without an id yet."""
    return {
        "parameters": parameters,
        "id": "",
        "name": name,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "position": [x, y],
    }


def inputs_node(inputs: Mapping[str, JsonObject], others: Mapping[str, str] | None = None) -> Node:
    """The inputs, each with its type; where none is given, its default. ``others``: constants beside them."""
    assignments: list[Node] = [
        {"id": name, "name": name, "value": value, "type": "string"} for name, value in (others or {}).items()
    ]
    for name, schema in inputs.items():
        given, kind = f"$json[{literal(name)}]", _type(schema)
        code = f"{given} ?? {literal(schema['default'])}" if "default" in schema else given
        assignments.append(
            {"id": name, "name": name, "value": expression(code), "type": "string" if kind == "any" else kind}
        )
    return node(INPUTS, "set", 3.4, {"assignments": {"assignments": assignments}, "options": {"dotNotation": False}})


def whole(program: ExportedProgram, inputs: Mapping[str, JsonObject], chain: Sequence[Node], about: str) -> str:
    """The JSON of a workflow: started by hand or by another one, then one node after the other."""
    starts = _starts(inputs)
    note = {"content": f"## {program.words}\n\n{about}", "width": 480, "height": 300}
    nodes = [*starts, *chain, node("About", "stickyNote", 1, note, 0, -440)]
    for at, one in enumerate(chain, start=1):
        one["position"] = [at * _APART, 0]
    for one in nodes:
        one["id"] = str(uuid5(NAMESPACE_URL, f"footpath:{program.words}:{one['name']}"))
    follows = [(one["name"], chain[0]["name"]) for one in starts]
    follows += [(one["name"], after["name"]) for one, after in pairwise(chain)]
    made = {
        "name": program.words,
        "nodes": nodes,
        "connections": {one: {"main": [[{"node": after, "type": "main", "index": 0}]]} for one, after in follows},
        "active": False,
        "settings": {"executionOrder": "v1"},
        "pinData": {},
    }
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _starts(inputs: Mapping[str, JsonObject]) -> list[Node]:
    values = [{"name": name, "type": _type(schema)} for name, schema in inputs.items()]
    given: Node = {"inputSource": "passthrough"}
    if values:
        given = {"inputSource": "workflowInputs", "workflowInputs": {"values": values}}
    return [
        node("Run by hand", "manualTrigger", 1, {}, 0, -100),
        node("Called by a workflow", "executeWorkflowTrigger", 1.1, given, 0, 100),
    ]


def _type(schema: JsonObject) -> str:
    """Of a field of n8n's; ``any``: the schema does not say it."""
    told = schema.get("type")
    kinds = [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, str) and one != "null"]
    if kinds:
        return _TYPES.get(kinds[0], "any")
    parts = schema.get("allOf")
    within = [_type(one) for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    return next((one for one in within if one != "any"), "any")
