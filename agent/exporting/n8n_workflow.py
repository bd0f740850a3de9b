"""A program that calls one tool after the other as a workflow of n8n: inputs, an HTTP request for each call, and what the last one answers.

What repeats, chooses or computes cannot be said so. Nor are Footpath's checks, approvals, limits and redaction: n8n calls the APIs by itself.
"""

import ast
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from agent.exporting.exported import ExportedProgram
from agent.exporting.n8n_request import request_node
from agent.exporting.n8n_values import INPUTS, StepValues, expression, literal, of_answer
from agent.plans.compiling import PARAMETER, as_document
from agent.plans.straight_text import StraightText
from agent.text import clean
from domain.errors import NotLinearError, UsageError
from domain.model import JsonObject
from domain.plan_document import PlanDocument

Node = dict[str, Any]

_TYPES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
_APART = 220
_ANSWER = "Answer"
_ABOUT = (
    "Exported by Footpath. Each call is an HTTP request of n8n's own: Footpath's checks of values, its approval of changes, limits for hosts and learning"
    " are not carried over. Keys are not here either: choose a credential in each node that asks for one."
)


def n8n_workflow(program: ExportedProgram) -> str:
    """The JSON that n8n imports.

    Raises:
        NotLinearError: it does more than to call one tool after the other; the message says where.
        UsageError: a tool cannot be called from there.
    """
    document = _document(program)
    names = {at: f"{at} {clean(program.docs[one.tool].api, 60)}" for at, one in enumerate(document.steps, start=1)}
    calls = [
        request_node(names[at], StepValues(step, program.docs[step.tool], names))
        for at, step in enumerate(document.steps, start=1)
    ]
    starts = _starts(document)
    chain = [*([_inputs(document)] if document.parameters else []), *calls, _answer(program, names)]
    nodes = [*starts, *chain, _note(program)]
    for at, node in enumerate(chain, start=1):
        node["position"] = [at * _APART, 0]
    for node in nodes:
        node["id"] = str(uuid5(NAMESPACE_URL, f"footpath:{program.words}:{node['name']}"))
    whole = {
        "name": program.words,
        "nodes": nodes,
        "connections": _connections(starts, chain),
        "active": False,
        "settings": {"executionOrder": "v1"},
        "pinData": {},
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _document(program: ExportedProgram) -> PlanDocument:
    plan = program.plan.model_copy(
        update={"inputs": {name: {**one, **_shown(program, name)} for name, one in program.inputs.items()}}
    )
    try:
        document = as_document(plan, program.docs)
    except NotLinearError as error:
        said = str(error).partition(", which steps cannot say")[0]
        raise NotLinearError(
            f"{said}, which no workflow of n8n says call by call: export it as mcp, and let n8n's MCP Client call it, or as python",
            error.line,
        ) from error
    if not document.steps:
        raise UsageError("the program calls nothing: there is nothing for n8n to do")
    return document


def _shown(program: ExportedProgram, name: str) -> JsonObject:
    told = program.plan.inputs[name].get(PARAMETER)
    return {PARAMETER: told} if told else {}


def _starts(document: PlanDocument) -> list[Node]:
    """By hand, and by another workflow that gives the inputs."""
    values = [{"name": name, "type": _type(schema)} for name, schema in document.parameters.items()]
    given = (
        {"inputSource": "workflowInputs", "workflowInputs": {"values": values}}
        if values
        else {"inputSource": "passthrough"}
    )
    return [
        _node("Run by hand", "n8n-nodes-base.manualTrigger", 1, {}, 0, -100),
        _node("Called by a workflow", "n8n-nodes-base.executeWorkflowTrigger", 1.1, given, 0, 100),
    ]


def _inputs(document: PlanDocument) -> Node:
    """The inputs, each with its type; where none is given, its default."""
    assignments: list[Node] = []
    for name, schema in document.parameters.items():
        given = f"$json[{literal(name)}]"
        code = f"{given} ?? {literal(schema['default'])}" if "default" in schema else given
        kind = _type(schema)
        assignments.append(
            {"id": name, "name": name, "value": expression(code), "type": "string" if kind == "any" else kind}
        )
    return _node(
        INPUTS,
        "n8n-nodes-base.set",
        3.4,
        {"assignments": {"assignments": assignments}, "options": {"dotNotation": False}},
    )


def _answer(program: ExportedProgram, names: dict[int, str]) -> Node:
    """What the program says at its end, where that is one value that was answered; else all that its last call was answered."""
    code = f"return {{ json: {{ answer: {_said(program, names)} }} }};"
    return _node(_ANSWER, "n8n-nodes-base.code", 2, {"mode": "runOnceForEachItem", "jsCode": code})


def _said(program: ExportedProgram, names: dict[int, str]) -> str:
    text = program.plan.program
    reading = StraightText({1: text})
    value = _last(ast.parse(text.text))
    if value is not None:
        place = reading.place_of(value)
        numbers = {site: at for at, site in enumerate(reading.calls, start=1)}
        if place is not None and place[0] in numbers and "[]" not in place[1]:
            return of_answer(names[numbers[place[0]]], place[1])
    return of_answer(names[len(names)], "")


def _last(tree: ast.Module) -> ast.expr | None:
    """What a text says at its end: the answer of an object that says how far it serves, or the value by itself."""
    match tree.body[-1:]:
        case [ast.Expr(ast.Dict(keys, values)) | ast.Return(ast.Dict(keys, values))]:
            told = {key.value: value for key, value in zip(keys, values, strict=True) if isinstance(key, ast.Constant)}
            return told.get("answer")
        case [ast.Expr(value)] | [ast.Return(ast.expr() as value)]:
            return value
        case _:
            return None


def _note(program: ExportedProgram) -> Node:
    changes = "" if program.reads else " **It changes something**: nobody is asked before it does."
    content = f"## {program.words}\n\n{_ABOUT}{changes} The answer is the value that the program says, or what its last call answers."
    return _node("About", "n8n-nodes-base.stickyNote", 1, {"content": content, "width": 480, "height": 260}, 0, -420)


def _node(name: str, kind: str, version: float, parameters: Node, x: int = 0, y: int = 0) -> Node:
    return {"parameters": parameters, "id": "", "name": name, "type": kind, "typeVersion": version, "position": [x, y]}


def _connections(starts: Sequence[Node], chain: Sequence[Node]) -> dict[str, Node]:
    follows = [(one["name"], chain[0]["name"]) for one in starts]
    follows += [(one["name"], after["name"]) for one, after in pairwise(chain)]
    return {one: {"main": [[{"node": after, "type": "main", "index": 0}]]} for one, after in follows}


def _type(schema: JsonObject) -> str:
    """Of a field of n8n's; ``any``: the schema does not say it."""
    told = schema.get("type")
    kinds = [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, str) and one != "null"]
    if kinds:
        return _TYPES.get(kinds[0], "any")
    parts = schema.get("allOf")
    within = [_type(one) for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    return next((one for one in within if one != "any"), "any")
