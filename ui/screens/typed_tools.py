"""Tools that are written by hand: fields for each call, with its parameters as rows that are added and removed."""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import streamlit as st

from ui.language import message, say
from ui.tool_drafts import LOCATIONS, METHODS, PLACES, TYPES, TypedInput, TypedTool

_EFFECTS = {"": message("By its method"), "reads": message("It only reads"), "changes": message("It changes something")}
_WIDTHS = [4, 3, 3, 3]


@dataclass
class _Rows:
    """The tools by a number each, and the numbers of their rows of parameters. Numbers are not given twice: fields are known by them.
    ``before``, ``inputs``: what stands in the fields at first, by these numbers.
    """

    key: str
    numbers: "count[int]" = field(default_factory=lambda: count(1))
    tools: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    before: dict[int, TypedTool] = field(default_factory=dict[int, TypedTool])
    inputs: dict[int, TypedInput] = field(default_factory=dict[int, TypedInput])

    def add_tool(self, typed: TypedTool | None = None) -> None:
        """A call with its rows; a new one has one row."""
        tool = next(self.numbers)
        self.before[tool] = typed or TypedTool("")
        self.tools[tool] = []
        for one in [TypedInput("")] if typed is None else typed.inputs:
            self.add_row(tool, one)

    def add_row(self, tool: int, typed: TypedInput | None = None) -> None:
        """A parameter."""
        row = next(self.numbers)
        self.inputs[row] = typed or TypedInput("")
        self.tools[tool].append(row)

    def remove_tool(self, tool: int) -> None:
        """With its rows."""
        self.tools.pop(tool, None)


def typed_tools(key: str = "typed", before: Sequence[TypedTool] = ()) -> list[TypedTool]:
    """The tools as they stand in the fields. ``before``: those that stand there at first."""
    kept: MutableMapping[str | int, Any] = st.session_state
    if key not in kept:
        kept[key] = _Rows(key)
        for one in before or [None]:
            kept[key].add_tool(one)
    rows: _Rows = kept[key]
    made = [_tool(rows, tool, number) for number, tool in enumerate(list(rows.tools), start=1)]
    st.button(say("Add another call"), icon=":material/add:", on_click=rows.add_tool, key=f"{key}-more")
    return made


def forget_tools(key: str = "typed") -> None:
    """What was typed has been taken."""
    st.session_state.pop(key, None)


def _tool(rows: _Rows, tool: int, number: int) -> TypedTool:
    key, before = f"{rows.key}-{tool}", rows.before[tool]
    with st.container(border=True):
        st.markdown(say("**Call {number}**", number=number))
        left, right = st.columns([2, 1])
        name = left.text_input(
            say("Name of call {number}", number=number),
            before.name,
            max_chars=100,
            key=f"{key}-name",
            placeholder="find_berth",
        )
        method = right.selectbox(
            say("Method of call {number}", number=number), METHODS, _at(METHODS, before.method), key=f"{key}-method"
        )
        url = st.text_input(
            say("Address of call {number}", number=number), before.url, max_chars=2000, key=f"{key}-url", placeholder="https://api.example.com/berths/{berth}"
        )  # fmt: skip
        about = st.text_area(
            say("What call {number} answers, and for which requests", number=number), before.description, max_chars=20_000, key=f"{key}-about", height=80
        )  # fmt: skip
        effect = st.selectbox(
            say("What call {number} does", number=number), list(_EFFECTS), _at(list(_EFFECTS), before.side_effect), format_func=lambda one: say(_EFFECTS[one]), key=f"{key}-effect"
        )  # fmt: skip
        inputs = _inputs(rows, tool, number)
        with st.expander(say("Key and example answer of call {number}", number=number)):
            secret, place, sent_as, prefix = _key(key, number, before)
            answer = st.text_area(
                say("An answer of call {number}, as JSON", number=number), before.answer, key=f"{key}-answer", height=80
            )
        if len(rows.tools) > 1:
            st.button(
                say("Remove call {number}", number=number),
                key=f"{key}-remove",
                on_click=rows.remove_tool,
                args=(tool,),
                type="tertiary",
            )
    more = before.other_keys
    return TypedTool(name, method, url, about, effect, answer, inputs, secret, place, sent_as, prefix, more)


def _key(key: str, number: int, before: TypedTool) -> tuple[str, str, str, str]:
    """The key that is sent: its name here, where it stands in the call, under which name, after which word."""
    first, second, third, fourth = st.columns(4)
    return (
        first.text_input(
            say("Name of its key, call {number}", number=number),
            before.secret,
            max_chars=200,
            key=f"{key}-secret",
            placeholder="harbour",
        ),
        second.selectbox(
            say("Sent in, call {number}", number=number), PLACES, _at(PLACES, before.place), key=f"{key}-place"
        ),
        third.text_input(
            say("Sent as, call {number}", number=number), before.sent_as, max_chars=100, key=f"{key}-sent"
        ),
        fourth.text_input(
            say("Before it, call {number}", number=number),
            before.prefix,
            max_chars=100,
            key=f"{key}-prefix",
            placeholder="“Bearer ”",
        ),
    )


def _inputs(rows: _Rows, tool: int, number: int) -> list[TypedInput]:
    st.caption(
        say(
            "Its parameters. One that has no name is left out; choices are the only values that it takes, with commas between them."
        )
    )
    made = [
        _input(rows, tool, row, say("{row} of call {number}", row=at, number=number))
        for at, row in enumerate(list(rows.tools[tool]), start=1)
    ]
    st.button(
        say("Add a parameter to call {number}", number=number),
        key=f"{rows.key}-{tool}-row",
        type="tertiary",
        icon=":material/add:",
        on_click=rows.add_row,
        args=(tool,),
    )
    return made


def _input(rows: _Rows, tool: int, row: int, of: str) -> TypedInput:
    """A row; each field says what it is, for who hears the page."""
    key, before = f"{rows.key}-row-{row}", rows.inputs[row]
    name, kind, location, needed = st.columns(_WIDTHS, vertical_alignment="bottom")
    about, example, choices, last = st.columns(_WIDTHS, vertical_alignment="bottom")
    last.button(
        say("Remove parameter {of}", of=of),
        key=f"{key}-remove",
        type="tertiary",
        on_click=rows.tools[tool].remove,
        args=(row,),
    )
    return TypedInput(
        name=name.text_input(say("Parameter {of}", of=of), before.name, max_chars=100, key=f"{key}-name"),
        type=kind.selectbox(say("Type {of}", of=of), TYPES, _at(TYPES, before.type), key=f"{key}-type"),
        location=location.selectbox(
            say("Sent in {of}", of=of), LOCATIONS, _at(LOCATIONS, before.location), key=f"{key}-in"
        ),
        description=about.text_input(
            say("Meaning {of}", of=of), before.description, max_chars=1000, key=f"{key}-about"
        ),
        example=example.text_input(say("Example {of}", of=of), before.example, max_chars=4000, key=f"{key}-example"),
        choices=choices.text_input(say("Choices {of}", of=of), before.choices, max_chars=4000, key=f"{key}-choices"),
        required=bool(needed.checkbox(say("Required {of}", of=of), before.required, key=f"{key}-needed")),
    )


def _at(choices: Sequence[str], value: str) -> int:
    return choices.index(value) if value in choices else 0
