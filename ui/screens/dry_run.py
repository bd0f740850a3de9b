"""What a plan would do, before it does: line by line, with the answers that stand in for real ones, of which values can be taken."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import streamlit as st

from domain.plan import Take
from ui.language import listing, message, say, say_count
from ui.picking import Pick, expression, picks
from ui.plans import DryCall, DryLine, DryRun, OpenPlan
from ui.texts import readable, response_text, unmarked
from ui.values import properties_of
from ui.walk_graph import tool_name

_SHOWN = 5
"""Calls of one line that are shown."""
_SAID = {
    "yes": message("It would answer"),
    "partly": message("It would answer in part"),
    "no": message("It would find no answer"),
}


@dataclass(frozen=True)
class Destination:
    """Where a value that is picked goes: to a parameter of a step (from 1, the plan's own alone), or to the text's cursor."""

    step: Callable[[int, str, Take], None] | None = None
    text: Callable[[str], None] | None = None


def tried(plan: OpenPlan, dry: DryRun, key: str, into: Destination) -> None:
    """Expected calls, changes, tokens and cost, and what each line came to."""
    with st.container(border=True):
        st.markdown(say("**What it would do.** Nothing was called."))
        facts = [
            say_count("1 call", "{count:,} calls", len(dry.calls)),
            say("{count} that change something", count=len(dry.changes)),
            say_count("1 model call", "{count:,} model calls", dry.model_calls),
            say_count("1 token", "{count:,} tokens", dry.tokens),
        ]
        facts += [say("cost {cost:.4f}", cost=dry.cost)] if dry.cost is not None else []
        st.caption(listing(facts))
        if dry.note:
            st.caption(unmarked(say(dry.note)))
        lines = {one.line: one for one in dry.lines}
        for line, calls in groupby(sorted(dry.calls, key=lambda one: (one.line, one.step)), key=lambda one: one.line):
            _line(plan, lines.get(line, DryLine(line=line)), list(calls), key, into)
        if dry.stopped:
            told = say("{why}. What comes after it is not known.", why=dry.stopped)
            line = dry.stopped_line
            st.warning(unmarked(say("Line {line}: {message}", line=line, message=told) if line else told))
        if dry.says is not None:
            said = say(_SAID.get(dry.says.answered, _SAID["yes"]))
            st.text(say("{what}: {text}", what=said, text=dry.says.answer or dry.says.missing)[:4000])


def _line(plan: OpenPlan, line: DryLine, calls: list[DryCall], key: str, into: Destination) -> None:
    for call in calls[:_SHOWN]:
        place = say("line {line}", line=line.line) if line.line else ""
        facts = (place, call.told, say("changes something") if call.changes else "")
        title = f"{call.step}. {tool_name(call.tool)} ({listing([part for part in facts if part])})"
        with st.expander(unmarked(title)):
            _call(plan, call, f"{key}-{call.step}", into)
    if len(calls) > _SHOWN:
        st.caption(say("Line {line}: {count} calls more.", line=line.line, count=len(calls) - _SHOWN))


def _call(plan: OpenPlan, call: DryCall, key: str, into: Destination) -> None:
    st.text(say("Arguments"))
    st.code(readable(call.arguments), language="json", wrap_lines=True)
    if call.found:
        st.text(say("Left open, and found: {names}", names=listing(call.found)))
    if call.missing:
        st.text(say("Missing: {missing}", missing=json.dumps(call.missing, ensure_ascii=False)))
    if call.note:
        st.text(call.note)
    if not call.response:
        return
    st.text(say("The example in its document") if call.example else say("Expected response"))
    st.code(response_text(call.response), language="json", wrap_lines=True)
    if found := picks(call.response):
        _picking(plan, call, found, key, into)


def _picking(plan: OpenPlan, call: DryCall, found: list[Pick], key: str, into: Destination) -> None:
    """A value of the response, and where it is to go."""
    told = {one.told: one.field for one in found}
    chosen = st.selectbox(
        say("Take a value of answer {step}", step=call.step),
        list(told),
        index=None,
        key=f"pick-{key}",
        placeholder=say("Choose a value"),
    )
    if chosen is None:
        return
    field = told[chosen]
    if into.text is not None:
        written = expression(call.held, field)
        help_ = unmarked(written)
        st.button(say("Put it at the cursor"), key=f"put-{key}", help=help_, on_click=partial(into.text, written))
    if into.step is not None:
        targets = _targets(plan, call.step)
        target = st.selectbox(
            say("For"), list(targets), index=None, key=f"for-{key}", placeholder=say("Choose a later step's parameter")
        )
        if target is not None:
            step, parameter = targets[target]
            take = Take(step=len(plan.given) + call.step, field=field)
            st.button(say("Take it from there"), key=f"put-{key}", on_click=partial(into.step, step, parameter, take))


def _targets(plan: OpenPlan, step: int) -> dict[str, tuple[int, str]]:
    """The parameters of the steps behind one."""
    given = len(plan.given)
    return {
        f"{given + number}. {tool_name(one.tool)}: {name}": (number, name)
        for number, one in enumerate(plan.steps.steps, start=1)
        if number > step
        for name in properties_of(plan.tool(one.tool).parameters)
    }
