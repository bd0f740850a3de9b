"""Tools that are written by hand: fields for each call, with its parameters as rows that are added and removed."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import streamlit as st

from ui.tool_drafts import LOCATIONS, METHODS, PLACES, TYPES, TypedInput, TypedTool

_KEPT = "typed-tools"
_EFFECTS = {"": "By its method", "reads": "It only reads", "changes": "It changes something"}
_WIDTHS = [4, 3, 3, 3]


@dataclass
class _Rows:
    """The tools by a number each, and the numbers of their rows of parameters. Numbers are not given twice: fields are known by them."""

    numbers: "count[int]" = field(default_factory=lambda: count(1))
    tools: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def add_tool(self) -> None:
        """A call with one row."""
        self.tools[next(self.numbers)] = [next(self.numbers)]

    def remove_tool(self, tool: int) -> None:
        """With its rows."""
        self.tools.pop(tool, None)


def typed_tools() -> list[TypedTool]:
    """The tools as they stand in the fields."""
    kept: MutableMapping[str | int, Any] = st.session_state
    if _KEPT not in kept:
        kept[_KEPT] = _Rows()
        kept[_KEPT].add_tool()
    rows: _Rows = kept[_KEPT]
    made = [_tool(rows, tool, number) for number, tool in enumerate(list(rows.tools), start=1)]
    st.button("Add another call", icon=":material/add:", on_click=rows.add_tool, key="typed-more")
    return made


def forget_tools() -> None:
    """What was typed has been taken."""
    st.session_state.pop(_KEPT, None)


def _tool(rows: _Rows, tool: int, number: int) -> TypedTool:
    key = f"typed-{tool}"
    with st.container(border=True):
        st.markdown(f"**Call {number}**")
        left, right = st.columns([2, 1])
        name = left.text_input(f"Name of call {number}", max_chars=100, key=f"{key}-name", placeholder="find_berth")
        method = right.selectbox(f"Method of call {number}", METHODS, key=f"{key}-method")
        url = st.text_input(
            f"Address of call {number}", max_chars=2000, key=f"{key}-url", placeholder="https://api.example.com/berths/{berth}"
        )  # fmt: skip
        about = st.text_area(
            f"What call {number} answers, and for which requests", max_chars=4000, key=f"{key}-about", height=80
        )
        effect = st.selectbox(
            f"What call {number} does", list(_EFFECTS), format_func=_EFFECTS.__getitem__, key=f"{key}-effect"
        )
        inputs = _inputs(rows, tool, number)
        with st.expander(f"Key and example answer of call {number}"):
            secret, place, sent_as, prefix = _key(key, number)
            answer = st.text_area(f"An answer of call {number}, as JSON", key=f"{key}-answer", height=80)
        if len(rows.tools) > 1:
            st.button(
                f"Remove call {number}", key=f"{key}-remove", on_click=rows.remove_tool, args=(tool,), type="tertiary"
            )
    return TypedTool(name, method, url, about, effect, answer, inputs, secret, place, sent_as, prefix)


def _key(key: str, number: int) -> tuple[str, str, str, str]:
    """The key that is sent: its name here, where it stands in the call, under which name, after which word."""
    first, second, third, fourth = st.columns(4)
    return (
        first.text_input(f"Name of its key, call {number}", max_chars=200, key=f"{key}-secret", placeholder="harbour"),
        second.selectbox(f"Sent in, call {number}", PLACES, key=f"{key}-place"),
        third.text_input(f"Sent as, call {number}", "Authorization", max_chars=100, key=f"{key}-sent"),
        fourth.text_input(f"Before it, call {number}", max_chars=100, key=f"{key}-prefix", placeholder="“Bearer ”"),
    )


def _inputs(rows: _Rows, tool: int, number: int) -> list[TypedInput]:
    listed = rows.tools[tool]
    st.caption(
        "Its parameters. One that has no name is left out; choices are the only values that it takes, with commas between them."
    )
    made = [_input(listed, row, at, number) for at, row in enumerate(list(listed), start=1)]
    st.button(
        f"Add a parameter to call {number}",
        key=f"typed-{tool}-row",
        type="tertiary",
        icon=":material/add:",
        on_click=lambda: listed.append(next(rows.numbers)),
    )
    return made


def _input(listed: list[int], row: int, at: int, number: int) -> TypedInput:
    """A row; each field says what it is, for who hears the page."""
    key, of = f"typed-row-{row}", f"{at} of call {number}"
    name, kind, location, needed = st.columns(_WIDTHS, vertical_alignment="bottom")
    about, example, choices, last = st.columns(_WIDTHS, vertical_alignment="bottom")
    return TypedInput(
        name=name.text_input(f"Parameter {of}", max_chars=100, key=f"{key}-name"),
        type=kind.selectbox(f"Type {of}", TYPES, key=f"{key}-type"),
        location=location.selectbox(f"Sent in {of}", LOCATIONS, key=f"{key}-in"),
        description=about.text_input(f"Meaning {of}", max_chars=1000, key=f"{key}-about"),
        example=example.text_input(f"Example {of}", max_chars=4000, key=f"{key}-example"),
        choices=choices.text_input(f"Choices {of}", max_chars=4000, key=f"{key}-choices"),
        required=_last(needed, last, listed, row, key, of),
    )


def _last(needed: Any, last: Any, listed: list[int], row: int, key: str, of: str) -> bool:
    """Whether it must be given; and the button that removes the row."""
    last.button(f"Remove {of}", key=f"{key}-remove", type="tertiary", on_click=listed.remove, args=(row,))
    return bool(needed.checkbox(f"Needed {of}", key=f"{key}-needed"))
