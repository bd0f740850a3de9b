"""Calls that a run asks about, as a card: what will happen, each value where it can be corrected, with where it comes from beside it."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Literal

import streamlit as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.client import Client
from ui.corrections import as_text, corrections, day_of, form_of, read, schema_of, unfit
from ui.language import listing, say
from ui.problems import ServerError
from ui.replies import Asked
from ui.run_state import AskedCall, Question
from ui.screens.telling import told
from ui.texts import labelled, unmarked
from ui.values import choices_of, shown

_MOST_COLUMNS = 3
"""Arguments that have columns of their own in a table of calls."""
_DAYS = date(1900, 1, 1), date(2999, 12, 31)
Answer = tuple[str, str, bool]
"""A button, the decision that it stands for, and whether the tool need not ask again."""


def asked_calls(client: Client, run: str, asked: Question, answers: Sequence[Answer]) -> None:
    """The calls with their values, and the answers; in a fragment, which is drawn again when it is answered."""
    accepts, wrong = _accepts(client, run, asked.input), f"wrong-{asked.input}"
    with st.form(f"asked-{asked.input}", border=False, enter_to_submit=False):
        if asked.calls:
            given, left_out = _table(asked, accepts)
        else:
            given, left_out = [_one(asked, asked.together[0], accepts)], frozenset[int]()
        row = st.container(horizontal=True, gap="small", key=f"allow-{asked.input}")
        for place, (label, decision, always) in enumerate(answers):
            kind = kind_of_button(place, always=always)
            pressed = row.form_submit_button(say(label), key=f"{label}-{asked.input}", type=kind)
            if pressed and decision == "allow" and len(left_out) == len(given):
                st.session_state[wrong] = say("No call is ticked: tick one, or do not allow them.")
            elif pressed:
                before = [one.arguments for one in asked.together]
                made = corrections(before, given, left_out) if decision == "allow" else []
                answer = partial(client.answer, run, asked.input, decision, always=always, corrections=made)
                try:
                    answer()
                except ServerError as error:
                    several = bool(asked.calls)
                    st.session_state[wrong] = unfit(error.faults, made, several=several) if error.faults else str(error)
                else:
                    st.session_state.pop(wrong, None)
                    st.rerun(scope="fragment")
    if said := st.session_state.get(wrong):  # the page is drawn anew all the time, and this is to stay
        st.error(unmarked(said))


def kind_of_button(place: int, *, always: bool) -> Literal["primary", "secondary", "tertiary"]:
    """The first answer stands out; what holds for all times to come is the quietest."""
    return "tertiary" if always else "secondary" if place else "primary"


def _accepts(client: Client, run: str, question: str) -> JsonObject | None:
    """What the calls accept, which stays the same; None where nothing can be corrected."""
    kept: dict[str, JsonObject | None] = st.session_state.setdefault("accepts", {})
    if question not in kept:
        found: list[Asked] = []
        told(lambda: found.extend(client.asked(run)))
        kept |= {one.id: one.accepts for one in found}
    return kept.get(question)


def _one(asked: Question, call: AskedCall, accepts: JsonObject | None) -> dict[str, JsonValue]:
    """A line for each value: the value, and where it comes from."""
    whence = {one.parameter: one.words for one in call.origins}
    given: dict[str, JsonValue] = {}
    for name, value in call.arguments.items():
        left, right = st.columns([2, 3], vertical_alignment="bottom")
        with left:
            given[name] = _value(name, labelled(name), value, accepts, f"{asked.input}-{name}")
        right.caption(unmarked(say(whence.get(name, ""))))
    return given


def _table(asked: Question, accepts: JsonObject | None) -> tuple[list[dict[str, JsonValue]], frozenset[int]]:
    """A row for each call, which can be left out; below it, where the values come from."""
    names = list(dict.fromkeys(name for one in asked.calls for name in one.arguments))
    wide = len(names) <= _MOST_COLUMNS
    widths = [1, 4, *([3] * len(names) if wide else [])]
    heads: list[str] = [say("Make it"), say("What it does"), *(names if wide else [])]
    with st.container(
        key=f"heads-{asked.input}"
    ):  # on a narrow screen each field says what it is, and the heads are not shown
        for column, head in zip(st.columns(widths), heads, strict=True):
            column.caption(labelled(head))
    rows = st.container(key=f"calls-{asked.input}")
    given: list[dict[str, JsonValue]] = []
    left_out: set[int] = set()
    for at, call in enumerate(asked.calls):
        row = rows.columns(widths, vertical_alignment="center")
        label, key = say("Make call {number}", number=at + 1), f"{asked.input}-{at}"
        if not row[0].checkbox(label, value=True, key=f"{key}-made", label_visibility="collapsed"):
            left_out.add(at)
        row[1].markdown(unmarked(call.summary or say("Call {number}", number=at + 1)))
        values: dict[str, JsonValue] = {}
        cells = row[2:] if wide else [st.expander(say("Values of call {number}", number=at + 1))] * len(names)
        for cell, name in zip(cells, names, strict=True):
            if name in call.arguments:
                with cell:
                    label = say("{name} of call {number}", name=labelled(name), number=at + 1)
                    values[name] = _value(name, label, call.arguments[name], accepts, f"{key}-{name}", hidden=wide)
        given.append(values)
    with st.expander(say("Where the values come from")):
        for line in whence_of(asked):
            st.caption(unmarked(line))
    return given, frozenset(left_out)


def whence_of(asked: Question) -> list[str]:
    """A line for each value of several calls; one for all of them where it is the same."""
    told: dict[tuple[str, str], list[int]] = {}
    for at, call in enumerate(asked.calls, start=1):
        for one in call.origins:
            told.setdefault((one.parameter, one.words), []).append(at)
    everywhere = len(asked.calls)
    return [
        say("{name} of each call: {words}", name=name, words=say(words))
        if len(calls) == everywhere
        else say(
            "{name} of call {calls}: {words}", name=name, calls=listing([str(one) for one in calls]), words=say(words)
        )
        for (name, words), calls in told.items()
    ]


def _value(
    name: str, label: str, value: JsonValue, accepts: JsonObject | None, key: str, *, hidden: bool = False
) -> JsonValue:
    """A field for a value, by what the tool accepts; what stands in it."""
    seen = "collapsed" if hidden else "visible"
    if accepts is None:
        st.text(f"{name}: {shown(value)}")
        return value
    schema = schema_of(accepts, name)
    match form_of(schema, value):
        case "choice":
            choices = choices_of(schema) or [True, False]
            listed = choices if value in choices else [value, *choices]
            at = listed.index(value)
            return st.selectbox(label, listed, index=at, format_func=shown, key=key, label_visibility=seen)
        case "whole" if isinstance(value, int):
            return st.number_input(label, value=value, step=1, key=key, label_visibility=seen)
        case "number" if isinstance(value, (int, float)):
            now = st.number_input(label, value=float(value), format="%.10g", step=None, key=key, label_visibility=seen)
            return value if now == value else now
        case "day":
            day = st.date_input(label, day_of(value), *_DAYS, key=key, format="YYYY-MM-DD", label_visibility=seen)
            return day.isoformat() if isinstance(day, date) else value
        case "lines":
            before = as_text(value)
            text = st.text_area(label, before, key=key, label_visibility=seen)
            return value if text == before else read(text, accepts, name, value)
        case _:
            before = as_text(value)
            text = st.text_input(label, before, key=key, label_visibility=seen)
            return value if text == before else read(text, accepts, name, value)
