"""Differences between two plans, step by step, for a person who decides whether to adopt the newer one.

Nothing that differs is left out.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from pydantic.types import JsonValue

from agent.text import clean
from domain.model import JsonObject
from domain.plan_document import PlanDocument, PlannedStep

_SHOWN = 160
_BEFORE = 30
"""Characters of the common beginning that are shown before the first difference of two long values."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two plans."""

    step: int | None
    """Number of the step in the newer plan, or in the older one if it was removed; None: the whole plan."""
    said: str
    """Sentence for people."""
    before: JsonValue = None
    """Value in the older plan; None if there is none."""
    after: JsonValue = None
    """Value in the newer plan; None if there is none."""
    line: int | None = None
    """Line of a program's text, numbered as ``step`` is; None if it is about the whole plan."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A step that both plans have."""

    number: int
    before: PlannedStep
    after: PlannedStep
    moved: Mapping[int, int]
    """Number in the newer plan of each step of the older one."""


def differences(before: PlanDocument, after: PlanDocument) -> tuple[Difference, ...]:
    """Return the differences in the order of the newer plan's steps, those of the plans' parameters last."""
    found: list[Difference] = []
    tools, newer = [step.tool for step in before.steps], [step.tool for step in after.steps]
    pairs: list[tuple[int, int]] = []
    for kind, start, end, start_after, end_after in SequenceMatcher(None, tools, newer, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(range(start, end), range(start_after, end_after), strict=True)
        else:
            found += [_gone(number, before.steps[number - 1]) for number in range(start + 1, end + 1)]
            found += [_new(number, after.steps[number - 1]) for number in range(start_after + 1, end_after + 1)]
    moved = {own + 1: other + 1 for own, other in pairs}
    for own, other in pairs:
        found += _within(_Pair(other + 1, before.steps[own], after.steps[other], moved))
    found.sort(key=lambda one: one.step or 0)
    return (*found, *of_parameters(before.parameters, after.parameters))


def _gone(number: int, step: PlannedStep) -> Difference:
    """Return the difference for a step that was removed."""
    return Difference(number, f"Step {number} is gone: it called {_call(step)}.", before=step.model_dump(mode="json"))


def _new(number: int, step: PlannedStep) -> Difference:
    """Return the difference for a step that was added."""
    return Difference(number, f"Step {number} is new: it calls {_call(step)}.", after=step.model_dump(mode="json"))


def _call(step: PlannedStep) -> str:
    """Return a step's call for people."""
    values = [f"{clean(name, 60)} = {_words(value)}" for name, value in _values(step, {}).items()]
    return clean(step.tool, 200) + (f" with {', '.join(values)}" if values else "")


def _within(pair: _Pair) -> Iterator[Difference]:
    """Yield differences in the arguments of a step that both plans have."""
    before, after = _values(pair.before, pair.moved), _values(pair.after, {})
    step = f"Step {pair.number} ({clean(pair.after.tool.rpartition('/')[2], 80)})"
    for name in dict.fromkeys((*before, *after)):
        told, old, new = clean(name, 80), before.get(name), after.get(name)
        if name not in after:
            yield Difference(pair.number, f"{step}: {told} is left open; it was {_words(old)}.", before=old)
        elif name not in before:
            yield Difference(pair.number, f"{step}: {told} is {_words(new)}; it was left open.", after=new)
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            shown = apart(_words(old, whole=True), _words(new, whole=True))
            yield Difference(pair.number, f"{step}: {told} is {shown[1]} instead of {shown[0]}.", old, new)


def _values(step: PlannedStep, moved: Mapping[int, int]) -> dict[str, JsonValue]:
    """Return the source of each parameter's value.

    References to steps are numbered as in the newer plan, so that a renumbered step is no difference.
    """
    fixed: dict[str, JsonValue] = {name: {"value": value} for name, value in step.arguments.items()}
    named: dict[str, JsonValue] = {name: {"named": own} for name, own in step.named.items()}
    takes: dict[str, JsonValue] = {
        name: {"step": moved.get(take.step, take.step), "field": take.field} for name, take in step.takes.items()
    }
    return {**fixed, **named, **takes}


def _words(source: JsonValue, *, whole: bool = False) -> str:
    """Return a value's source for people, uncut if ``whole``."""
    match source:
        case {"value": value}:
            text = json.dumps(value, ensure_ascii=not str(value).isprintable())
        case {"named": name}:
            text = f"the template's {name}"
        case {"step": number, "field": field}:
            text = f"what step {number} gave" + (f" at {field}" if field else "")
        case _:
            text = json.dumps(source, ensure_ascii=False)
    return text if whole else _cut(text)


def apart(before: str, after: str) -> tuple[str, str]:
    """Return two texts, shortened so that their first difference is visible."""
    if len(before) <= _SHOWN and len(after) <= _SHOWN:
        return before, after
    common = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(after)) if common is None else common) - _BEFORE)
    head = "…" if start else ""
    return head + _cut(before[start:]), head + _cut(after[start:])


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def of_parameters(before: Mapping[str, JsonObject], after: Mapping[str, JsonObject]) -> Iterator[Difference]:
    """Yield differences in the parameters of two plans and in their JSON Schemas."""
    for name in dict.fromkeys((*before, *after)):
        old, new, told = before.get(name), after.get(name), clean(name, 80)
        if new is None:
            yield Difference(None, f"It asks for {told} no more.", before=old)
        elif old is None:
            yield Difference(None, f"It asks for {told} as well.", after=new)
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            shown = apart(json.dumps(old), json.dumps(new))
            yield Difference(None, f"What {told} may be is {shown[1]} instead of {shown[0]}.", old, new)
