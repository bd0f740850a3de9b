"""What a plan would do, before it does: line by line, with the answers that stand in for real ones, of which values can be taken."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import streamlit as st

from domain.plan_document import Take
from ui.picking import Pick, expression, picks
from ui.plans import DryCall, DryLine, DryRun, OpenPlan
from ui.texts import readable, response_text, unmarked
from ui.values import properties_of
from ui.walk_graph import tool_name

_SHOWN = 5
"""Calls of one line that are shown."""
_SAID = {"yes": "It would answer", "partly": "It would answer in part", "no": "It would find no answer"}


@dataclass(frozen=True)
class Destination:
    """Where a value that is picked goes: to a parameter of a step (from 1, the plan's own alone), or to the text's cursor."""

    step: Callable[[int, str, Take], None] | None = None
    text: Callable[[str], None] | None = None


def tried(plan: OpenPlan, dry: DryRun, key: str, into: Destination) -> None:
    """Expected calls, changes, tokens and cost, and what each line came to."""
    with st.container(border=True):
        st.markdown("**What it would do.** Nothing was called.")
        facts = [
            f"{len(dry.calls)} calls",
            f"{len(dry.changes)} that change something",
            f"{dry.model_calls} model calls",
        ]
        facts += [f"{dry.tokens} tokens"] + ([f"cost {dry.cost:.4f}"] if dry.cost is not None else [])
        st.caption(", ".join(facts))
        if dry.note:
            st.caption(unmarked(dry.note))
        lines = {one.line: one for one in dry.lines}
        for line, calls in groupby(sorted(dry.calls, key=lambda one: (one.line, one.step)), key=lambda one: one.line):
            _line(plan, lines.get(line, DryLine(line=line)), list(calls), key, into)
        if dry.stopped:
            where = f"Line {dry.stopped_line}: " if dry.stopped_line else ""
            st.warning(unmarked(f"{where}{dry.stopped}. What comes after it is not known."))
        if dry.says is not None:
            st.text(f"{_SAID.get(dry.says.answered, 'It would answer')}: {dry.says.answer or dry.says.missing}"[:4000])


def _line(plan: OpenPlan, line: DryLine, calls: list[DryCall], key: str, into: Destination) -> None:
    for call in calls[:_SHOWN]:
        change = ", changes something" if call.changes else ""
        place = f"line {line.line}" if line.line else ""
        title = (
            f"{call.step}. {tool_name(call.tool)} ({', '.join(part for part in (place, call.told) if part)}{change})"
        )
        with st.expander(unmarked(title)):
            _call(plan, call, f"{key}-{call.step}", into)
    if len(calls) > _SHOWN:
        st.caption(f"Line {line.line}: {len(calls) - _SHOWN} calls more.")


def _call(plan: OpenPlan, call: DryCall, key: str, into: Destination) -> None:
    st.text("Arguments")
    st.code(readable(call.arguments), language="json", wrap_lines=True)
    if call.found:
        st.text("Left open, and found: " + ", ".join(call.found))
    if call.missing:
        st.text("Missing: " + json.dumps(call.missing, ensure_ascii=False))
    if call.note:
        st.text(call.note)
    if not call.response:
        return
    st.text("The example in its document" if call.example else "Expected response")
    st.code(response_text(call.response), language="json", wrap_lines=True)
    if found := picks(call.response):
        _picking(plan, call, found, key, into)


def _picking(plan: OpenPlan, call: DryCall, found: list[Pick], key: str, into: Destination) -> None:
    """A value of the response, and where it is to go."""
    told = {one.told: one.field for one in found}
    chosen = st.selectbox(
        f"Take a value of answer {call.step}", list(told), index=None, key=f"pick-{key}", placeholder="Choose a value"
    )
    if chosen is None:
        return
    field = told[chosen]
    if into.text is not None:
        written = expression(call.held, field)
        help_ = unmarked(written)
        st.button("Put it at the cursor", key=f"put-{key}", help=help_, on_click=partial(into.text, written))
    if into.step is not None:
        targets = _targets(plan, call.step)
        target = st.selectbox(
            "For", list(targets), index=None, key=f"for-{key}", placeholder="Choose a later step's parameter"
        )
        if target is not None:
            step, parameter = targets[target]
            take = Take(step=len(plan.given) + call.step, field=field)
            st.button("Take it from there", key=f"put-{key}", on_click=partial(into.step, step, parameter, take))


def _targets(plan: OpenPlan, step: int) -> dict[str, tuple[int, str]]:
    """The parameters of the steps behind one."""
    given = len(plan.given)
    return {
        f"{given + number}. {tool_name(one.tool)}: {name}": (number, name)
        for number, one in enumerate(plan.steps.steps, start=1)
        if number > step
        for name in properties_of(plan.tool(one.tool).parameters)
    }
