"""A further step of a plan: where it goes, then what the graph suggests there, or anything that the walk considered.

It lies in the page, not over it: in a box of its own a long list has to be scrolled, which closes what is chosen from.
"""

from collections.abc import Callable

import streamlit as st

from domain.plan import Take
from domain.tool import ToolId
from ui.language import say
from ui.plans import OpenPlan, Suggestion
from ui.run_state import RunState
from ui.texts import unmarked
from ui.walk_graph import tool_name

Put = Callable[[ToolId, int, dict[str, Take]], None]
"""Adds a tool after a step, with what it takes from earlier ones."""


def adding(plan: OpenPlan, story: RunState, key: str, put: Put) -> None:
    """``key``: of this plan in this shape."""
    given, steps = len(plan.given), len(plan.steps.steps)
    with st.expander(say("Add a step"), icon=":material/add:"):
        after = st.selectbox(
            say("Where"),
            range(steps + 1),
            index=place_to_add(plan),
            format_func=lambda one: say("After step {step}", step=given + one) if one else say("Before the first step"),
            key=f"where-{key}",
        )
        for count, one in enumerate(one for one in plan.suggestions if one.after in (after, None)):
            _suggested(one, after, f"add-{key}-{after}-{count}", put)
        seen = sorted({node.tool for node in story.nodes.values()}, key=tool_name)
        other = f"other-{key}"
        st.selectbox(
            say("Any tool that was considered"),
            seen,
            index=None,
            format_func=tool_name,
            key=other,
            placeholder=say("Type to search"),
            on_change=lambda: _chosen(st.session_state[other], after, put),
        )


def place_to_add(plan: OpenPlan) -> int:
    """Before the first step with which something is wrong, which may need another; else at the end. It counts the document's own steps."""
    wrong = [one.step for one in plan.problems if one.step]
    return min([len(plan.steps.steps), *(step - 1 for step in wrong)])


def _suggested(one: Suggestion, after: int, key: str, put: Put) -> None:
    label = unmarked(f"{tool_name(one.tool)}: {one.reason}"[:160])
    st.button(label, key=key, width="stretch", on_click=lambda: put(one.tool, after, one.fills))


def _chosen(tool: ToolId | None, after: int, put: Put) -> None:
    if tool:
        put(tool, after, {})
