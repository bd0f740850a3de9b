"""A program that calls one tool after the other, as HTTP requests of n8n's own.

Footpath's checks of values, approvals, limits and redaction are not carried over: n8n calls the APIs by itself.
"""

import ast

from agent.exporting.exported import ExportedProgram
from agent.exporting.n8n_nodes import Node, inputs_node, node, whole
from agent.exporting.n8n_request import request_node
from agent.exporting.n8n_values import StepValues, of_answer
from agent.plans.compiling import as_document
from agent.plans.straight_text import StraightText
from agent.text import clean
from domain.errors import NotLinearError
from domain.program import Program
from domain.python_source import parse_module

_ABOUT = (
    "Exported by Footpath. Each call is an HTTP request of n8n's own: Footpath's checks of values, its approval of changes, limits for hosts and learning are"
    " not carried over. No key is in here: choose a credential in each node that asks for one. The answer is the value that the program says, or else all that"
    " its last call answers."
)


def workflow_of_calls(program: ExportedProgram) -> str:
    """The JSON of such a workflow.

    Raises:
        NotLinearError: it does more than to call one tool after the other. UsageError: n8n cannot make one of its calls as Footpath does.
    """
    plan = program.plan.model_copy(update={"inputs": dict(program.inputs), "values": {}})
    document = as_document(plan, program.docs)
    if not document.steps:
        raise NotLinearError("the program calls nothing")
    steps = dict(enumerate(document.steps, start=1))
    names = {at: f"{at} {clean(program.docs[step.tool].api, 60)}" for at, step in steps.items()}
    calls = [request_node(names[at], StepValues(step, program.docs[step.tool], names)) for at, step in steps.items()]
    changes = "" if program.reads else " **It changes something**, and nobody is asked before it does."
    first = [inputs_node(program.inputs)] if program.inputs else []
    return whole(program, program.inputs, [*first, *calls, _answer(plan.program, names)], _ABOUT + changes)


def _answer(program: Program, names: dict[int, str]) -> Node:
    """What the program says at its end, where that is one value that was answered; else all that its last call was answered."""
    reading = StraightText({1: program})
    value = _last(parse_module(program.text))
    place = reading.place_of(value) if value is not None else None
    numbers = {site: at for at, site in enumerate(reading.calls, start=1)}
    said = of_answer(names[len(names)], "")
    if place is not None and not isinstance(place[0], int) and place[0] in numbers and "[]" not in place[1]:
        said = of_answer(names[numbers[place[0]]], place[1])
    code = f"return {{ json: {{ answer: {said} }} }};"
    return node("Answer", "code", 2, {"mode": "runOnceForEachItem", "jsCode": code})


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
