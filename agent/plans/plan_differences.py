"""Compare two plans for a person who decides whether to adopt the newer one.

Every difference is reported.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from pydantic.types import JsonValue

from agent.plans.plan_compilation import has_own_answer, to_expression, to_plan_document
from agent.plans.plan_inputs import build_shown_schemas
from agent.programs.analysis.canonical_form import iterate_bare_statements
from agent.programs.analysis.program_flow import ProgramFlow
from agent.text import clean_text
from domain.errors import NotLinearError
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep
from domain.program import Program, ProgramPlan
from domain.python_source import unparse
from domain.source_text import SourceStatement, SourceText, parse_source
from domain.tool import ToolDoc, ToolId

_MAX_SHOWN = 160
"""Maximum number of characters of a value that are shown."""
_CONTEXT_CHARACTERS = 30
"""Characters that are shown before the first difference of two long values."""


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """A difference between two plans."""

    step: int | None
    """Number of the step in the newer plan, or in the older one if it was removed; None for the whole plan."""
    said: str
    """Description of the difference, in one sentence."""
    before: JsonValue = None
    """Value in the older plan; None if there is none."""
    after: JsonValue = None
    """Value in the newer plan; None if there is none."""
    line: int | None = None
    """Line in the newer program, or in the older one if it was removed; None for the whole plan."""


@dataclass(frozen=True, slots=True)
class _StepPair:
    """A step that both plans have."""

    number: int
    before: PlannedStep
    after: PlannedStep
    moved: Mapping[int, int]
    """Number in the newer plan of each step of the older one."""


def compare_documents(before: PlanDocument, after: PlanDocument) -> tuple[PlanDifference, ...]:
    """Return the differences of two plans given as steps, in the order of the newer plan, those of parameters last."""
    changes: list[PlanDifference] = []
    old_tools, new_tools = [step.tool for step in before.steps], [step.tool for step in after.steps]
    pairs: list[tuple[int, int]] = []
    for kind, start, end, start_after, end_after in SequenceMatcher(
        None, old_tools, new_tools, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            pairs += zip(range(start, end), range(start_after, end_after), strict=True)
        else:
            changes += [
                _describe_removed_step(number, before.steps[number - 1]) for number in range(start + 1, end + 1)
            ]
            changes += [
                _describe_added_step(number, after.steps[number - 1])
                for number in range(start_after + 1, end_after + 1)
            ]
    moved = {old_index + 1: new_index + 1 for old_index, new_index in pairs}
    for old_index, new_index in pairs:
        changes += _compare_step(_StepPair(new_index + 1, before.steps[old_index], after.steps[new_index], moved))
    changes.sort(key=lambda one: one.step or 0)
    return (*changes, *compare_parameters(before.parameters, after.parameters))


def _describe_removed_step(number: int, step: PlannedStep) -> PlanDifference:
    """Return the difference for a step that was removed."""
    return PlanDifference(
        number, f"Step {number} is gone: it called {_format_call(step)}.", before=step.model_dump(mode="json")
    )


def _describe_added_step(number: int, step: PlannedStep) -> PlanDifference:
    """Return the difference for a step that was added."""
    return PlanDifference(
        number, f"Step {number} is new: it calls {_format_call(step)}.", after=step.model_dump(mode="json")
    )


def _format_call(step: PlannedStep) -> str:
    """Return the text of a step's call."""
    values = [f"{clean_text(name, 60)} = {_format_source(value)}" for name, value in _collect_sources(step, {}).items()]
    return clean_text(step.tool, 200) + (f" with {', '.join(values)}" if values else "")


def _compare_step(pair: _StepPair) -> Iterator[PlanDifference]:
    """Yield the differences in the arguments of a step that both plans have."""
    before, after = _collect_sources(pair.before, pair.moved), _collect_sources(pair.after, {})
    step = f"Step {pair.number} ({clean_text(pair.after.tool.rpartition('/')[2], 80)})"
    for name in dict.fromkeys((*before, *after)):
        shown_name, old, new = clean_text(name, 80), before.get(name), after.get(name)
        if name not in after:
            yield PlanDifference(
                pair.number, f"{step}: {shown_name} is left open; it was {_format_source(old)}.", before=old
            )
        elif name not in before:
            yield PlanDifference(
                pair.number, f"{step}: {shown_name} is {_format_source(new)}; it was left open.", after=new
            )
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            excerpts = shorten_to_difference(_format_source(old, uncut=True), _format_source(new, uncut=True))
            yield PlanDifference(
                pair.number, f"{step}: {shown_name} is {excerpts[1]} instead of {excerpts[0]}.", old, new
            )


def _collect_sources(step: PlannedStep, moved: Mapping[int, int]) -> dict[str, JsonValue]:
    """Return the source of each parameter's value.

    References to steps are numbered as in the newer plan (``moved``), so that a renumbered step is no difference.
    """
    fixed_sources: dict[str, JsonValue] = {name: {"value": value} for name, value in step.arguments.items()}
    named_sources: dict[str, JsonValue] = {name: {"named": own} for name, own in step.named.items()}
    take_sources: dict[str, JsonValue] = {
        name: {"step": moved.get(take.step, take.step), "field": take.field} for name, take in step.takes.items()
    }
    return {**fixed_sources, **named_sources, **take_sources}


def _format_source(source: JsonValue, *, uncut: bool = False) -> str:
    """Return the text of a value's source; whole with ``uncut``, otherwise shortened."""
    match source:
        case {"value": value}:
            text = json.dumps(value, ensure_ascii=not str(value).isprintable())
        case {"named": name}:
            text = f"the template's {name}"
        case {"step": number, "field": field}:
            text = f"what step {number} gave" + (f" at {field}" if field else "")
        case _:
            text = json.dumps(source, ensure_ascii=False)
    return text if uncut else _cut(text)


def shorten_to_difference(before: str, after: str) -> tuple[str, str]:
    """Return two texts, both shortened to the surroundings of their first difference."""
    if len(before) <= _MAX_SHOWN and len(after) <= _MAX_SHOWN:
        return before, after
    common = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(after)) if common is None else common) - _CONTEXT_CHARACTERS)
    head = "…" if start else ""
    return head + _cut(before[start:]), head + _cut(after[start:])


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def compare_parameters(before: Mapping[str, JsonObject], after: Mapping[str, JsonObject]) -> Iterator[PlanDifference]:
    """Yield differences in the parameters of two plans and in their JSON Schemas."""
    for name in dict.fromkeys((*before, *after)):
        old, new, shown_name = before.get(name), after.get(name), clean_text(name, 80)
        if new is None:
            yield PlanDifference(None, f"It asks for {shown_name} no more.", before=old)
        elif old is None:
            yield PlanDifference(None, f"It asks for {shown_name} as well.", after=new)
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            excerpts = shorten_to_difference(json.dumps(old), json.dumps(new))
            yield PlanDifference(None, f"What {shown_name} may be is {excerpts[1]} instead of {excerpts[0]}.", old, new)


_MAX_LINE_LENGTH = 300
"""Maximum number of characters of a line that are shown."""
_CONTEXT_LINES = 2
"""Number of unchanged lines that are shown around changed ones."""
_MAX_LINES = 5_000
"""Maximum number of lines of a text that are compared."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a comparison of two texts."""

    kind: Literal["same", "gone", "new", "skipped"]
    """``skipped`` stands for unchanged lines that are not shown."""
    text: str
    before: int = 0
    """Line number in the older text, from 1; 0 if it is not there."""
    after: int = 0
    """Line number in the newer text, from 1; 0 if it is not there."""


def compare_plans(
    before: ProgramPlan, after: ProgramPlan, docs: Mapping[ToolId, ToolDoc]
) -> tuple[PlanDifference, ...]:
    """Return all differences, by steps if these express both plans, otherwise by calls and statements of the texts."""
    try:
        changes = _compare_steps(before, after, docs) or _compare_program_texts(before, after)
    except (SyntaxError, ValueError, RecursionError):
        changes = [*compare_parameters(build_shown_schemas(before), build_shown_schemas(after))]
    changes += _compare_input_values(before, after)
    if not changes and before.program.text != after.program.text:
        return (PlanDifference(None, "Its text is written otherwise, and does the same.", None, None),)
    return tuple(changes)


def diff_lines(before: str, after: str) -> tuple[DiffLine, ...]:
    """Return the lines that differ, with unchanged lines around them."""
    old, new = before.split("\n")[:_MAX_LINES], after.split("\n")[:_MAX_LINES]
    diff: list[DiffLine] = []
    shown_end = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT_LINES):
        if group[0][1] > shown_end:
            diff.append(DiffLine("skipped", ""))
        for kind, start, end, start_after, end_after in group:
            if kind == "equal":
                places = zip(range(start, end), range(start_after, end_after), strict=True)
                diff += [
                    DiffLine("same", _shorten_line(old[index]), index + 1, new_index + 1) for index, new_index in places
                ]
            else:
                diff += [DiffLine("gone", _shorten_line(old[index]), before=index + 1) for index in range(start, end)]
                diff += [
                    DiffLine("new", _shorten_line(new[index]), after=index + 1)
                    for index in range(start_after, end_after)
                ]
        shown_end = group[-1][2]
    if diff and shown_end < len(old):
        diff.append(DiffLine("skipped", ""))
    return tuple(diff)


def _shorten_line(text: str) -> str:
    return text if len(text) <= _MAX_LINE_LENGTH else text[: _MAX_LINE_LENGTH - 1] + "…"


def _compare_steps(before: ProgramPlan, after: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> list[PlanDifference]:
    """Return the differences by steps; none if steps cannot express both plans completely."""
    if has_own_answer(before.program) or has_own_answer(after.program):
        return []
    try:
        return [*compare_documents(to_plan_document(before, docs), to_plan_document(after, docs))]
    except NotLinearError:
        return []


@dataclass(frozen=True, slots=True)
class _TextCall:
    """A call in a program's text."""

    function: str
    tool: ToolId
    line: int
    values: Mapping[str, str]
    """Expressions of the arguments, by the tool's parameter names."""

    @property
    def description(self) -> str:
        """Text of the call."""
        values = [f"{clean_text(name, 60)} = {clean_text(value, 160)}" for name, value in self.values.items()]
        return clean_text(self.tool, 200) + (f" with {', '.join(values)}" if values else "")


def _compare_program_texts(before: ProgramPlan, after: ProgramPlan) -> list[PlanDifference]:
    """Return the differences of calls, other statements, answers and inputs."""
    old, new = _collect_text_calls(before.program), _collect_text_calls(after.program)
    changes: list[PlanDifference] = []
    old_tools, new_tools = [call.tool for call in old], [call.tool for call in new]
    for kind, start, end, start_after, end_after in SequenceMatcher(
        None, old_tools, new_tools, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            for call, new_call in zip(old[start:end], new[start_after:end_after], strict=True):
                changes += _compare_call(call, new_call)
            continue
        changes += [_build_call_difference(call, f"is gone: it called {call.description}") for call in old[start:end]]
        changes += [
            _build_call_difference(call, f"is new: it calls {call.description}") for call in new[start_after:end_after]
        ]
    changes += _compare_statements(_collect_statements(before.program), _collect_statements(after.program))
    changes.sort(key=lambda one: one.line or 0)
    return [
        *changes,
        *_compare_answers(before.program, after.program),
        *compare_parameters(build_shown_schemas(before), build_shown_schemas(after)),
    ]


def _collect_text_calls(program: Program) -> list[_TextCall]:
    calls: list[_TextCall] = []
    for call in ProgramFlow({1: program}).calls.values():
        parameter_names = program.arguments.get(call.name, {})
        values = {
            parameter_names.get(argument.name, argument.name or "**"): argument.value.code
            for argument in call.arguments
        }
        calls.append(_TextCall(call.name, program.tools[call.name], call.line, values))
    return calls


def _collect_statements(program: Program) -> list[tuple[int, str]]:
    """Return the statements of a text with their lines, except calls and the answer, which are compared separately."""
    source = parse_source(program.text)
    answer = _find_answer_statement(source, program)
    return sorted(
        (statement.line, text)
        for statement, text in iterate_bare_statements(source, program.tools)
        if statement is not answer
    )


def _compare_statements(
    before: Sequence[tuple[int, str]], after: Sequence[tuple[int, str]]
) -> Iterator[PlanDifference]:
    """Yield the differences of statements other than calls and the answer."""
    old_texts, new_texts = [text for _, text in before], [text for _, text in after]
    for kind, start, end, start_after, end_after in SequenceMatcher(
        None, old_texts, new_texts, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        old, new = "; ".join(old_texts[start:end]), "; ".join(new_texts[start_after:end_after])
        line = after[start_after][0] if new else before[start][0]
        (was, now), is_changed = shorten_to_difference(old, new), bool(old and new)
        message = f"`{now}` instead of `{was}`" if is_changed else f"`{now}` is new" if new else f"`{was}` is gone"
        yield PlanDifference(None, f"Line {line}: {message}.", old or None, new or None, line)


def _compare_call(before: _TextCall, after: _TextCall) -> Iterator[PlanDifference]:
    """Yield the differences in the arguments of a call that both texts make."""
    for name in dict.fromkeys((*before.values, *after.values)):
        shown_name, old, new = clean_text(name, 80), before.values.get(name), after.values.get(name)
        if new is None:
            yield _build_call_difference(after, f"{shown_name} is left out; it was {_clean_value(old)}", old)
        elif old is None:
            yield _build_call_difference(after, f"{shown_name} is {_clean_value(new)}; it was left out", None, new)
        elif old != new:
            excerpts = shorten_to_difference(old, new)
            yield _build_call_difference(after, f"{shown_name} is {excerpts[1]} instead of {excerpts[0]}", old, new)


def _build_call_difference(
    call: _TextCall, message: str, before: JsonValue = None, after: JsonValue = None
) -> PlanDifference:
    """Return a difference about a call."""
    return PlanDifference(
        None, f"Line {call.line} ({clean_text(call.function, 80)}): {message}.", before, after, call.line
    )


def _clean_value(text: str | None) -> str:
    return clean_text(text or "", 160)


def _compare_answers(before: Program, after: Program) -> Iterator[PlanDifference]:
    """Yield the difference between the answers that the programs compose, if there is any."""
    old, new = (
        "" if part is None else unparse(part.node)
        for part in (_find_answer_statement(parse_source(part.text), part) for part in (before, after))
    )
    if old != new:
        excerpts = shorten_to_difference(old or "nothing of its own", new or "nothing of its own")
        yield PlanDifference(None, f"What it says at its end is {excerpts[1]} instead of {excerpts[0]}.", old, new)


def _find_answer_statement(source: SourceText, program: Program) -> SourceStatement | None:
    """Return the statement that composes the program's answer; None if it has no answer of its own."""
    outermost = [statement for statement in source.statements if statement.outermost]
    return outermost[-1] if outermost and has_own_answer(program) else None


def _compare_input_values(before: ProgramPlan, after: ProgramPlan) -> Iterator[PlanDifference]:
    """Yield differences in the values of inputs that both plans have."""
    for name in before.inputs.keys() & after.inputs.keys() & (before.values.keys() | after.values.keys()):
        old, new = (to_expression(plan.values[name]) if name in plan.values else "left out" for plan in (before, after))
        if old != new:
            excerpts = shorten_to_difference(old, new)
            message = f"The value of {clean_text(name, 80)} is {excerpts[1]} instead of {excerpts[0]}."
            yield PlanDifference(None, message, before.values.get(name), after.values.get(name))
