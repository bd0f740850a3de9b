"""Text that a model is shown: candidates, steps and parameters as short lines.

Secrets never stand in it, as tool documents hold only their names.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.llm.prompts import Fence
from agent.llm.steps import Offered
from agent.llm.subtasks import shown_category
from agent.policy.protocol import ArgumentsQuestion, FieldsQuestion, PathQuestion, Results, Situation
from agent.policy.subtasks import DecomposeQuestion
from agent.text import clean, title
from domain.event import Feed
from domain.tool import Parameter, ToolDoc, ToolId, tool_id_parts

SHOWN_RESPONSE = 1_100
"""Characters of one response: the length that compression leaves, with its mark of a cut."""

_REQUEST = 4_000
"""Characters of the request."""
_PARAMETERS = 60
_MOVE = 300
_SHORT = 140
"""Characters of a description where tools are compared."""
_TOLD = 0.005
"""Weight below which an edge is not mentioned."""
_EXAMPLE = 2_500
_RECALLED = 3
_BEFORE = 600
"""Characters of a response to an earlier request."""


def split_text(question: DecomposeQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the categories of tools near the request, the earlier requests, and the request."""
    before = fence.block("asked before", _asked_before(question)) if question.earlier else ""
    named = "\n".join(shown_category(one) for one in question.categories)
    categories = fence.block("categories", named) if named else ""
    return (categories, before, request_text(question.request, fence), "The subtasks?")


def _asked_before(question: DecomposeQuestion) -> str:
    """Render earlier requests of the conversation, the oldest first, each with its numbered calls."""
    lines: list[str] = []
    for one in question.earlier:
        lines.append(f"asked: {clean(one.request, 600)}")
        for number, tool, result in one.steps:
            arguments = clean(json.dumps(result.arguments, ensure_ascii=False), 300)
            response = clean((result.compressed or result.response)[:_BEFORE], _BEFORE)
            lines.append(f"{number}. {_named(tool.id)} {arguments} -> {response}")
    return "\n".join(lines)


def situation_text(situation: Situation, shown: Sequence[Offered], fence: Fence) -> tuple[str, ...]:
    """Render the request, the path, the moves made before and the candidates; the most stable part comes first."""
    path = "\n".join(f"{number}. {line(tool, _SHORT)}" for number, tool in enumerate(situation.path, start=1))
    if situation.results:
        path = steps_text(situation.results)
    lines = "\n".join(candidate_line(number, one) for number, one in enumerate(shown, start=1))
    choices = sum(one.after is None for one in shown)
    return (
        request_text(situation.request, fence),
        fence.block("path so far", path) if path else "The path is empty: this is the start.",
        fence.block("what served similar requests", _recalled(situation)) if situation.recalled else "",
        _moved(situation.memory, fence),
        f"Share of past paths that ended here: {situation.finish_weight:.2f}" if path else "",
        fence.block("candidates", lines) if lines else "There are no candidates here.",
        f"Your move? {_moves(choices, at_start=not path)}",
    )


def path_text(question: PathQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the request, the path, the moves made before, and all candidates by number."""
    path = "\n".join(f"{number}. {line(tool, _SHORT)}" for number, tool in enumerate(question.path, start=1))
    shown = map(Offered, question.candidates)
    lines = "\n".join(candidate_line(number, one) for number, one in enumerate(shown, start=1))
    return (
        request_text(question.request, fence),
        fence.block("path so far", path) if path else "",
        _moved(question.memory, fence),
        fence.block("candidates", lines),
        f"The path? Numbers from 1 to {len(question.candidates)}, at most {question.longest} of them.",
    )


def _moved(memory: Sequence[str], fence: Fence) -> str:
    moves = moves_text(memory)
    return fence.block("moves so far", moves) if moves else ""


def arguments_text(question: ArgumentsQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the request, the earlier steps, the tool, the later tools, and the complaint."""
    later = "\n".join(f"- {line(tool)}" for tool in question.later[:6])
    return (
        request_text(question.request, fence),
        fence.block("earlier steps", steps_text(question.earlier)) if question.earlier else "There is no earlier step.",
        fence.block("tool", f"{line(question.tool, 400)}\n{_parameters(question.tool)}"),
        fence.block("later tools", later) if later else "",
        fence.block("why your last answer was refused", clean(question.complaint, 800)) if question.complaint else "",
        f"Today is {datetime.now().astimezone():%A, %Y-%m-%d}. The arguments?",
    )


def fields_text(question: FieldsQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the tool, an example of its responses, and its fields by number."""
    numbered = "\n".join(f"{number}. {clean(field, 120)}" for number, field in enumerate(question.fields, start=1))
    return (
        fence.block("tool", line(question.tool, 400)),
        fence.block("example response", question.response[:_EXAMPLE]),
        fence.block("fields", numbered),
        "The numbers?",
    )


def answer_text(request: str, steps: Results, fence: Fence) -> tuple[str, ...]:
    """Render the request and all steps that were done for it."""
    return (request_text(request, fence), fence.block("steps", steps_text(steps)), "The answer?")


def moves_text(memory: Sequence[str]) -> str:
    """Render the moves of the short-term memory, which is kept short, one per line."""
    return "\n".join(f"- {clean(move, _MOVE)}" for move in memory)


def request_text(request: str, fence: Fence) -> str:
    """Render the request, which says what to do within the rules of the prompt and does not change them."""
    return fence.block("request", request[:_REQUEST])


def steps_text(steps: Results) -> str:
    """Render results by number, each with its arguments, its outcome and its shortened response."""
    shown: list[str] = []
    for number, (tool, result) in enumerate(steps, start=1):
        arguments = clean(json.dumps(result.arguments, ensure_ascii=False), 600)
        note = f" ({clean(result.note)})" if result.note else ""
        response = (result.compressed or result.response)[:SHOWN_RESPONSE]
        shown.append(
            f"{number}. {line(tool)}\narguments: {arguments}\noutcome: {result.status}{note}\nresponse: {response}"
        )
    return "\n\n".join(shown)


def line(tool: ToolDoc, limit: int = 240) -> str:
    """Render a tool in one line, with a warning if it may have side effects."""
    changes = {"reads": "", "changes": " (CHANGES SOMETHING)", "unknown": " (MAY CHANGE SOMETHING)"}[tool.effect.kind]
    return f"{title(tool)}{changes}: {clean(tool.description or tool.toolset_description, limit)}"


def _recalled(situation: Situation) -> str:
    """Render remembered requests with their paths, the most similar first."""
    return "\n".join(
        f"- {one.similarity:.2f} {clean(one.memory.request, 200)} | {' -> '.join(_named(tool) for tool in one.memory.path)}"
        for one in situation.recalled[:_RECALLED]
    )


def _named(tool: ToolId) -> str:
    return "/".join(clean(part, 60) for part in tool_id_parts(tool)[1:])


def candidate_line(number: int, one: Offered) -> str:
    """Render a candidate: its description, and behind a bar the facts that are known about it."""
    candidate, facts = one.candidate, list[str]()
    if one.after is not None:  # a follower: it can only come after that candidate
        facts.append(f"after {one.after}")
    if candidate.weight >= _TOLD:
        facts.append(f"weight {candidate.weight:.2f}")
    if candidate.availability is not None:
        facts.append(f"availability {candidate.availability:.2f}")
    facts.append(f"relevance {max(candidate.relevance, default=0.0):.2f}")
    needs = ", ".join(clean(p.name, 60) for p in candidate.tool.required[:12])
    facts.append(f"needs {needs or 'nothing'}")
    if candidate.returning:
        facts.append("failed of late and is to be tried again")
    if candidate.standing_in:
        facts.append("stands in for one that fails")
    if candidate.missing:
        facts.append(f"missing {', '.join(clean(name, 60) for name in candidate.missing[:12])}")
    if candidate.feeds:
        fed = (f"{clean(f.parameter, 60)} from {_source(f, one)}" for f in candidate.feeds[:8])
        facts.append(f"fed {', '.join(fed)}")
    return f"{number}. {line(candidate.tool, _SHORT)} | {'; '.join(facts)}"


def _source(feed: Feed, one: Offered) -> str:
    """Render the source of a value; a follower's own producer is no step yet, so its line number is given."""
    return f"number {one.after}" if one.after is not None else f"{feed.step}.{clean(feed.field, 60)}"


def _moves(candidates: int, *, at_start: bool) -> str:
    advance = f"advance with a number from 1 to {candidates}, " if candidates else ""
    return f"{advance}give_up." if at_start else f"{advance}finish, backtrack or give_up."


def _parameters(tool: ToolDoc) -> str:
    lines = list(_parameter_lines(tool.parameters[:_PARAMETERS]))
    if len(tool.parameters) > _PARAMETERS:
        lines.append(f"and {len(tool.parameters) - _PARAMETERS} more that are optional")
    return "\n".join(lines) or "It has no parameters."


def _parameter_lines(parameters: Sequence[Parameter]) -> Iterator[str]:
    for parameter in sorted(parameters, key=lambda p: not p.required):
        facts = [parameter.type if parameter.format is None else f"{parameter.type}, {clean(parameter.format, 30)}"]
        facts.append("required" if parameter.required else "optional")
        if parameter.enum:
            facts.append(f"one of {clean(json.dumps(parameter.enum[:30], ensure_ascii=False), 400)}")
        if parameter.default not in (None, ""):
            facts.append(f"default {clean(json.dumps(parameter.default, ensure_ascii=False), 80)}")
        if parameter.json_schema:
            facts.append(f"schema {clean(parameter.json_schema, 400)}")
        described = f": {clean(parameter.description, 200)}" if parameter.description else ""
        yield f"- {clean(parameter.name, 80)} ({'; '.join(facts)}){described}"
