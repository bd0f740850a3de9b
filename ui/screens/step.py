"""The arguments of a step: where each value comes from, and the value."""

from collections.abc import Callable
from typing import Protocol

import streamlit as st

from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep, Take
from ui.language import message, say
from ui.plan_edits import filled
from ui.plans import OpenPlan
from ui.texts import labelled, unmarked
from ui.values import choices_of, properties_of, required_of, shown, typed

_OPEN, _VALUE = "open", "value"
_SOURCES = {_OPEN: message("found when it is reached"), _VALUE: message("this value")}


Change = Callable[[PlanDocument], PlanDocument]
"""What becomes of the plan as it stands when a field is used, which may no longer be what was drawn."""


class Put(Protocol):
    """Keeps a change. ``shape``: fields come and go with it."""

    def __call__(self, change: Change, *, shape: bool = True) -> None:
        """At the server."""
        ...


def arguments(plan: OpenPlan, number: int, key: str, put: Put) -> None:
    """A row for each parameter: those of the tool, and any that the step has besides."""
    step = plan.steps.steps[number - 1]
    schema = plan.tool(step.tool).parameters
    properties, required = properties_of(schema), required_of(schema)
    names = sorted(properties, key=lambda name: name not in required)
    names += [name for name in (*step.arguments, *step.takes) if name not in properties]
    used = [name for name in names if name in required or name in step.arguments or name in step.takes]
    for name in used:
        _row(plan, number, name, properties.get(name, {}), f"{key}-{name}", put)
    rest = [name for name in names if name not in used]
    if rest:
        with st.expander(say("More parameters")):
            for name in rest:
                _row(plan, number, name, properties.get(name, {}), f"{key}-{name}", put)


def _row(plan: OpenPlan, number: int, name: str, schema: JsonObject, key: str, put: Put) -> None:
    step = plan.steps.steps[number - 1]
    take = step.takes.get(name)
    source = _source_of(step, name)
    before = len(plan.given) + number - 1
    sources = [_VALUE, _OPEN, *(str(one) for one in range(1, before + 1))]
    sources += [source] if source not in sources else []
    told, where, what = st.columns([3, 3, 6], vertical_alignment="center")
    told.markdown(f"`{name}`" if name.isidentifier() else unmarked(name), help=_about(schema))

    def other_source() -> None:
        chosen = st.session_state[f"{key}-source"]
        value = None if chosen == _OPEN else "" if chosen == _VALUE else Take(step=int(chosen), field="")
        put(lambda old: old if _source_of(old.steps[number - 1], name) == chosen else filled(old, number, name, value))

    where.selectbox(
        say("Where {name} comes from", name=labelled(name)),
        sources,
        index=sources.index(source),
        format_func=_source,
        key=f"{key}-source",
        label_visibility="collapsed",
        on_change=other_source,
    )
    with what:
        if take:
            _text(
                say("Field for {name}", name=labelled(name)),
                take.field,
                f"{key}-field",
                lambda text: put(lambda old: filled(old, number, name, Take(step=take.step, field=text)), shape=False),
            )
        elif source == _VALUE:
            _value(plan, number, name, schema, key, put)
    for one in plan.problems:
        if (one.step, one.parameter) == (number, name):
            st.error(unmarked(one.message))


def _value(plan: OpenPlan, number: int, name: str, schema: JsonObject, key: str, put: Put) -> None:
    value = plan.steps.steps[number - 1].arguments[name]
    label = say("Value of {name}", name=labelled(name))
    if not (choices := choices_of(schema)):
        _text(
            label,
            shown(value),
            f"{key}-value",
            lambda text: put(lambda old: filled(old, number, name, typed(text, schema)), shape=False),
        )
        return
    listed = choices if value in choices else [value, *choices]

    def chosen() -> None:
        new = st.session_state[f"{key}-value"]
        put(lambda old: filled(old, number, name, new), shape=False)

    st.selectbox(
        label,
        listed,
        index=listed.index(value),
        format_func=shown,
        key=f"{key}-value",
        label_visibility="collapsed",
        on_change=chosen,
    )


def _text(label: str, text: str, key: str, put: Callable[[str], None]) -> None:
    st.text_input(label, text, key=key, label_visibility="collapsed", on_change=lambda: put(st.session_state[key]))


def _source_of(step: PlannedStep, name: str) -> str:
    take = step.takes.get(name)
    return f"{take.step}" if take else _VALUE if name in step.arguments else _OPEN


def _source(source: str) -> str:
    if source in _SOURCES:
        return say(_SOURCES[source])
    return say("from step {step}", step=source)


def _about(schema: JsonObject) -> str | None:
    about = schema.get("description")
    return unmarked(about[:400]) if isinstance(about, str) and about else None
