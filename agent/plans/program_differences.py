"""Differences between two programs, for a person who decides whether to adopt the newer one.

They are those of calls, inputs and answers, and of the text line by line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from pydantic.types import JsonValue

from agent.plans.compiling import as_document, speaks
from agent.plans.differences import Difference, apart, differences, of_parameters
from agent.plans.inputs import shown_inputs
from agent.plans.literals import literal
from agent.programs.analysis.flow import Flow
from agent.programs.analysis.forms import bare_statements
from agent.text import clean
from domain.errors import NotLinearError
from domain.program import Program, ProgramPlan
from domain.python_source import unparse
from domain.source_text import SourceText, Statement, parse_source
from domain.tool import ToolDoc, ToolId

_LONGEST = 300
"""Maximum characters of a line or expression that are shown."""
_AROUND = 2
"""Unchanged lines that are shown around changed ones."""
_MOST = 5_000
"""Lines of a text that are compared."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of a comparison of two texts."""

    kind: Literal["same", "gone", "new", "skipped"]
    """``skipped`` stands for unchanged lines that are not shown."""
    text: str
    before: int = 0
    """Line number in the older text, from 1; 0 if it is not there."""
    after: int = 0
    """Line number in the newer text, from 1; 0 if it is not there."""


def plan_differences(before: ProgramPlan, after: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> tuple[Difference, ...]:
    """Return all differences: by steps if these express both plans, else by calls in the order of the newer text."""
    try:
        found = _of_steps(before, after, docs) or _of_texts(before, after)
    except (SyntaxError, ValueError, RecursionError):
        found = [*of_parameters(shown_inputs(before), shown_inputs(after))]
    found += _values(before, after)
    if not found and before.program.text != after.program.text:
        return (Difference(None, "Its text is written otherwise, and does the same.", None, None),)
    return tuple(found)


def text_lines(before: str, after: str) -> tuple[TextLine, ...]:
    """Return the lines that differ, with those around them."""
    old, new = before.split("\n")[:_MOST], after.split("\n")[:_MOST]
    found: list[TextLine] = []
    at = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND):
        if group[0][1] > at:
            found.append(TextLine("skipped", ""))
        for kind, start, end, start_after, end_after in group:
            if kind == "equal":
                places = zip(range(start, end), range(start_after, end_after), strict=True)
                found += [TextLine("same", _line(old[one]), one + 1, other + 1) for one, other in places]
            else:
                found += [TextLine("gone", _line(old[one]), before=one + 1) for one in range(start, end)]
                found += [TextLine("new", _line(new[one]), after=one + 1) for one in range(start_after, end_after)]
        at = group[-1][2]
    if found and at < len(old):
        found.append(TextLine("skipped", ""))
    return tuple(found)


def _line(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _of_steps(before: ProgramPlan, after: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> list[Difference]:
    """Return the differences by steps; none if steps cannot express all that both plans do."""
    if speaks(before.program) or speaks(after.program):
        return []
    try:
        return [*differences(as_document(before, docs), as_document(after, docs))]
    except NotLinearError:
        return []


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a text."""

    function: str
    tool: ToolId
    line: int
    values: Mapping[str, str]
    """Expressions in the text by the parameters of the tool."""

    @property
    def said(self) -> str:
        """Text of the call for people."""
        values = [f"{clean(name, 60)} = {clean(value, 160)}" for name, value in self.values.items()]
        return clean(self.tool, 200) + (f" with {', '.join(values)}" if values else "")


def _of_texts(before: ProgramPlan, after: ProgramPlan) -> list[Difference]:
    """Return the differences of calls, other statements, answers and inputs."""
    old, new = _calls(before.program), _calls(after.program)
    found: list[Difference] = []
    tools, newer = [call.tool for call in old], [call.tool for call in new]
    for kind, start, end, start_after, end_after in SequenceMatcher(None, tools, newer, autojunk=False).get_opcodes():
        if kind == "equal":
            for one, other in zip(old[start:end], new[start_after:end_after], strict=True):
                found += _within(one, other)
            continue
        found += [_told(one, f"is gone: it called {one.said}") for one in old[start:end]]
        found += [_told(one, f"is new: it calls {one.said}") for one in new[start_after:end_after]]
    found += _lines(_computed(before.program), _computed(after.program))
    found.sort(key=lambda one: one.line or 0)
    return [*found, *_answers(before.program, after.program), *of_parameters(shown_inputs(before), shown_inputs(after))]


def _calls(program: Program) -> list[_Call]:
    found: list[_Call] = []
    for call in Flow({1: program}).calls.values():
        names = program.arguments.get(call.name, {})
        values = {names.get(one.name, one.name or "**"): one.value.code for one in call.arguments}
        found.append(_Call(call.name, program.tools[call.name], call.line, values))
    return found


def _computed(program: Program) -> list[tuple[int, str]]:
    """Return the statements of a text besides its calls and its answer, by line.

    Parts that other differences report are left out.
    """
    source = parse_source(program.text)
    answer = _answer(source, program)
    return sorted((one.line, text) for one, text in bare_statements(source, program.tools) if one is not answer)


def _lines(before: Sequence[tuple[int, str]], after: Sequence[tuple[int, str]]) -> Iterator[Difference]:
    """Yield the differences of other statements."""
    texts, newer = [text for _, text in before], [text for _, text in after]
    for kind, start, end, start_after, end_after in SequenceMatcher(None, texts, newer, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        old, new = "; ".join(texts[start:end]), "; ".join(newer[start_after:end_after])
        line = after[start_after][0] if new else before[start][0]
        (was, now), both = apart(old, new), bool(old and new)
        said = f"`{now}` instead of `{was}`" if both else f"`{now}` is new" if new else f"`{was}` is gone"
        yield Difference(None, f"Line {line}: {said}.", old or None, new or None, line)


def _within(before: _Call, after: _Call) -> Iterator[Difference]:
    """Yield the differences in the arguments of a call that both texts have."""
    for name in dict.fromkeys((*before.values, *after.values)):
        told, old, new = clean(name, 80), before.values.get(name), after.values.get(name)
        if new is None:
            yield _told(after, f"{told} is left out; it was {_cut(old)}", old)
        elif old is None:
            yield _told(after, f"{told} is {_cut(new)}; it was left out", None, new)
        elif old != new:
            shown = apart(old, new)
            yield _told(after, f"{told} is {shown[1]} instead of {shown[0]}", old, new)


def _told(call: _Call, said: str, before: JsonValue = None, after: JsonValue = None) -> Difference:
    """Return a difference about a call."""
    return Difference(None, f"Line {call.line} ({clean(call.function, 80)}): {said}.", before, after, call.line)


def _cut(text: str | None) -> str:
    return clean(text or "", 160)


def _answers(before: Program, after: Program) -> Iterator[Difference]:
    """Yield the difference of the programs' own answers."""
    old, new = (
        "" if one is None else unparse(one.node)
        for one in (_answer(parse_source(one.text), one) for one in (before, after))
    )
    if old != new:
        shown = apart(old or "nothing of its own", new or "nothing of its own")
        yield Difference(None, f"What it says at its end is {shown[1]} instead of {shown[0]}.", old, new)


def _answer(source: SourceText, program: Program) -> Statement | None:
    """Return the statement that is the program's answer; None if it has none of its own."""
    outermost = [one for one in source.statements if one.outermost]
    return outermost[-1] if outermost and speaks(program) else None


def _values(before: ProgramPlan, after: ProgramPlan) -> Iterator[Difference]:
    """Yield differences in the values of inputs that both plans have."""
    for name in before.inputs.keys() & after.inputs.keys() & (before.values.keys() | after.values.keys()):
        old, new = (literal(one.values[name]) if name in one.values else "left out" for one in (before, after))
        if old != new:
            shown = apart(old, new)
            told = f"The value of {clean(name, 80)} is {shown[1]} instead of {shown[0]}."
            yield Difference(None, told, before.values.get(name), after.values.get(name))
