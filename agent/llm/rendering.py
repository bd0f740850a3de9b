"""Prompts of decisions: the request, candidates, steps and parameters as short lines.

Secrets never stand in it, as tool documents hold only their names.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.llm.moves import NumberedCandidate
from agent.llm.prompts import PromptFence
from agent.llm.subtasks import render_category
from agent.policy.protocol import (
    ArgumentsQuestion,
    DecomposeQuestion,
    FieldsQuestion,
    MoveQuestion,
    PathQuestion,
    Results,
)
from agent.text import clean_text, format_tool_title
from domain.event import Feed
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId, split_tool_id

MAX_RESPONSE_CHARS = 1_100
"""Characters of one response: the length that compression leaves, with its mark of a cut."""

_MAX_REQUEST_CHARS = 4_000
"""Characters of the request."""
_MAX_PARAMETERS = 60
_MAX_MOVE_CHARS = 300
_MAX_DESCRIPTION_CHARS = 140
"""Characters of a description where tools are compared."""
_MIN_WEIGHT = 0.005
"""Weight below which an edge is not mentioned."""
_MAX_EXAMPLE_CHARS = 2_500
_MAX_RECALLED = 3
_MAX_EARLIER_RESPONSE_CHARS = 600
"""Characters of a response to an earlier request."""


def render_split_prompt(question: DecomposeQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the categories of tools near the request, the earlier requests, and the request."""
    earlier_block = fence.render_block("asked before", _render_earlier_requests(question)) if question.earlier else ""
    category_lines = "\n".join(render_category(category) for category in question.categories)
    categories_block = fence.render_block("categories", category_lines) if category_lines else ""
    return (categories_block, earlier_block, render_request(question.request, fence), "The subtasks?")


def _render_earlier_requests(question: DecomposeQuestion) -> str:
    """Render earlier requests of the conversation, the oldest first, each with its numbered calls."""
    lines: list[str] = []
    for earlier_request in question.earlier:
        lines.append(f"asked: {clean_text(earlier_request.request, 600)}")
        for number, tool, result in earlier_request.steps:
            arguments = clean_text(json.dumps(result.arguments, ensure_ascii=False), 300)
            response = clean_text(
                (result.compressed or result.response)[:_MAX_EARLIER_RESPONSE_CHARS], _MAX_EARLIER_RESPONSE_CHARS
            )
            lines.append(f"{number}. {_render_tool_name(tool.id)} {arguments} -> {response}")
    return "\n".join(lines)


def render_move_prompt(
    situation: MoveQuestion, numbered: Sequence[NumberedCandidate], fence: PromptFence
) -> tuple[str, ...]:
    """Render the request, the path, the moves made before and the candidates; the most stable part comes first."""
    path = "\n".join(
        f"{number}. {render_tool(tool, _MAX_DESCRIPTION_CHARS)}" for number, tool in enumerate(situation.path, start=1)
    )
    if situation.results:
        path = render_steps(situation.results)
    candidate_lines = "\n".join(
        render_candidate(number, candidate) for number, candidate in enumerate(numbered, start=1)
    )
    choice_count = sum(candidate.after is None for candidate in numbered)
    return (
        render_request(situation.request, fence),
        fence.render_block("path so far", path) if path else "The path is empty: this is the start.",
        fence.render_block("what served similar requests", _render_recalled(situation)) if situation.recalled else "",
        _render_moves_block(situation.memory, fence),
        f"Share of past paths that ended here: {situation.finish_weight:.2f}" if path else "",
        fence.render_block("candidates", candidate_lines) if candidate_lines else "There are no candidates here.",
        f"Your move? {_render_possible_moves(choice_count, at_start=not path)}",
    )


def render_path_prompt(question: PathQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the request, the path, the moves made before, and all candidates by number."""
    path = "\n".join(
        f"{number}. {render_tool(tool, _MAX_DESCRIPTION_CHARS)}" for number, tool in enumerate(question.path, start=1)
    )
    numbered = map(NumberedCandidate, question.candidates)
    candidate_lines = "\n".join(
        render_candidate(number, candidate) for number, candidate in enumerate(numbered, start=1)
    )
    return (
        render_request(question.request, fence),
        fence.render_block("path so far", path) if path else "",
        _render_moves_block(question.memory, fence),
        fence.render_block("candidates", candidate_lines),
        f"The path? Numbers from 1 to {len(question.candidates)}, at most {question.max_steps} of them.",
    )


def _render_moves_block(memory: Sequence[str], fence: PromptFence) -> str:
    moves = render_moves(memory)
    return fence.render_block("moves so far", moves) if moves else ""


def render_arguments_prompt(question: ArgumentsQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the request, the earlier steps, the tool, the later tools, and the complaint."""
    later = "\n".join(f"- {render_tool(tool)}" for tool in question.later[:6])
    return (
        render_request(question.request, fence),
        fence.render_block("earlier steps", render_steps(question.earlier))
        if question.earlier
        else "There is no earlier step.",
        fence.render_block("tool", f"{render_tool(question.tool, 400)}\n{_render_parameters(question.tool)}"),
        fence.render_block("later tools", later) if later else "",
        fence.render_block("why your last answer was refused", clean_text(question.complaint, 800))
        if question.complaint
        else "",
        f"Today is {datetime.now().astimezone():%A, %Y-%m-%d}. The arguments?",
    )


def render_fields_prompt(question: FieldsQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the tool, an example of its responses, and its fields by number."""
    numbered = "\n".join(f"{number}. {clean_text(field, 120)}" for number, field in enumerate(question.fields, start=1))
    return (
        fence.render_block("tool", render_tool(question.tool, 400)),
        fence.render_block("example response", question.response[:_MAX_EXAMPLE_CHARS]),
        fence.render_block("fields", numbered),
        "The numbers?",
    )


def render_answer_prompt(request: str, steps: Results, fence: PromptFence) -> tuple[str, ...]:
    """Render the request and all steps that were done for it."""
    return (render_request(request, fence), fence.render_block("steps", render_steps(steps)), "The answer?")


def render_moves(memory: Sequence[str]) -> str:
    """Render the moves of the short-term memory, which is kept short, one per line."""
    return "\n".join(f"- {clean_text(move, _MAX_MOVE_CHARS)}" for move in memory)


def render_request(request: str, fence: PromptFence) -> str:
    """Render the request, which says what to do within the rules of the prompt and does not change them."""
    return fence.render_block("request", request[:_MAX_REQUEST_CHARS])


def render_keywords(schema: JsonObject, keywords: frozenset[str], limit: int) -> str:
    """Render these keywords of an input's JSON Schema as JSON of at most ``limit`` characters."""
    shown_keywords = {name: value for name, value in schema.items() if name in keywords}
    return clean_text(json.dumps(shown_keywords, ensure_ascii=False), limit)


def render_steps(steps: Results) -> str:
    """Render results by number, each with its arguments, its outcome and its shortened response."""
    rendered_steps: list[str] = []
    for number, (tool, result) in enumerate(steps, start=1):
        arguments = clean_text(json.dumps(result.arguments, ensure_ascii=False), 600)
        note = f" ({clean_text(result.note)})" if result.note else ""
        response = (result.compressed or result.response)[:MAX_RESPONSE_CHARS]
        rendered_steps.append(
            f"{number}. {render_tool(tool)}\narguments: {arguments}\noutcome: {result.status}{note}\nresponse: {response}"
        )
    return "\n\n".join(rendered_steps)


def render_tool(tool: ToolDoc, limit: int = 240) -> str:
    """Render a tool in one line, with a warning if it may have side effects."""
    effect_note = {"reads": "", "changes": " (CHANGES SOMETHING)", "unknown": " (MAY CHANGE SOMETHING)"}[
        tool.effect.kind
    ]
    return f"{format_tool_title(tool)}{effect_note}: {clean_text(tool.description or tool.toolset_description, limit)}"


def _render_recalled(situation: MoveQuestion) -> str:
    """Render remembered requests with their paths, the most similar first."""
    return "\n".join(
        f"- {recalled.similarity:.2f} {clean_text(recalled.memory.request, 200)} | {' -> '.join(_render_tool_name(tool) for tool in recalled.memory.path)}"
        for recalled in situation.recalled[:_MAX_RECALLED]
    )


def _render_tool_name(tool: ToolId) -> str:
    return "/".join(clean_text(part, 60) for part in split_tool_id(tool)[1:])


def render_candidate(number: int, numbered: NumberedCandidate) -> str:
    """Render a candidate: its description, and behind a bar the facts that are known about it."""
    candidate, facts = numbered.candidate, list[str]()
    if numbered.after is not None:  # a follower: it can only come after that candidate
        facts.append(f"after {numbered.after}")
    if candidate.weight >= _MIN_WEIGHT:
        facts.append(f"weight {candidate.weight:.2f}")
    if candidate.availability is not None:
        facts.append(f"availability {candidate.availability:.2f}")
    facts.append(f"relevance {max(candidate.relevance, default=0.0):.2f}")
    needs = ", ".join(clean_text(p.name, 60) for p in candidate.tool.required[:12])
    facts.append(f"needs {needs or 'nothing'}")
    if candidate.returning:
        facts.append("failed of late and is to be tried again")
    if candidate.standing_in:
        facts.append("stands in for one that fails")
    if candidate.missing:
        facts.append(f"missing {', '.join(clean_text(name, 60) for name in candidate.missing[:12])}")
    if candidate.feeds:
        sources = (f"{clean_text(f.parameter, 60)} from {_render_source(f, numbered)}" for f in candidate.feeds[:8])
        facts.append(f"fed {', '.join(sources)}")
    return f"{number}. {render_tool(candidate.tool, _MAX_DESCRIPTION_CHARS)} | {'; '.join(facts)}"


def _render_source(feed: Feed, numbered: NumberedCandidate) -> str:
    """Render the source of a value; a follower's own producer is no step yet, so its line number is given."""
    return f"number {numbered.after}" if numbered.after is not None else f"{feed.step}.{clean_text(feed.field, 60)}"


def _render_possible_moves(choice_count: int, *, at_start: bool) -> str:
    advance = f"advance with a number from 1 to {choice_count}, " if choice_count else ""
    return f"{advance}give_up." if at_start else f"{advance}finish, backtrack or give_up."


def _render_parameters(tool: ToolDoc) -> str:
    lines = list(_iterate_parameter_lines(tool.parameters[:_MAX_PARAMETERS]))
    if len(tool.parameters) > _MAX_PARAMETERS:
        lines.append(f"and {len(tool.parameters) - _MAX_PARAMETERS} more that are optional")
    return "\n".join(lines) or "It has no parameters."


def _iterate_parameter_lines(parameters: Sequence[Parameter]) -> Iterator[str]:
    for parameter in sorted(parameters, key=lambda p: not p.required):
        facts = [
            parameter.type if parameter.format is None else f"{parameter.type}, {clean_text(parameter.format, 30)}"
        ]
        facts.append("required" if parameter.required else "optional")
        if parameter.enum:
            facts.append(f"one of {clean_text(json.dumps(parameter.enum[:30], ensure_ascii=False), 400)}")
        if parameter.default not in (None, ""):
            facts.append(f"default {clean_text(json.dumps(parameter.default, ensure_ascii=False), 80)}")
        if parameter.json_schema:
            facts.append(f"schema {clean_text(parameter.json_schema, 400)}")
        description = f": {clean_text(parameter.description, 200)}" if parameter.description else ""
        yield f"- {clean_text(parameter.name, 80)} ({'; '.join(facts)}){description}"
