"""A plan before it is carried out: its steps as cards that are changed in place, tried out, approved or denied."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from domain.plan_document import PlanDocument
from domain.tool import ToolId
from ui.client import Client
from ui.drafts import added, moved, removed
from ui.draw import unmarked
from ui.plans import OpenPlan, dry_run, edit, open_plan
from ui.problems import ServerError
from ui.screens.dry_run import tried
from ui.screens.step import arguments
from ui.story import Story
from ui.walk import tool_name


class Draft:
    """The plan of a run in this visit. ``turn`` counts changes of its shape: fields are drawn anew then, and only then."""

    def __init__(self, client: Client, run: str) -> None:
        self.client, self.run = client, run
        self.turn = 0
        self.told = ""
        self.plan: OpenPlan = open_plan(client, run)

    def put(self, document: PlanDocument, *, shape: bool = True) -> None:
        """Keep a change at the server, which checks it; told why where it does not take it."""
        self.told = ""
        st.session_state.pop(f"dry-{self.run}", None)
        try:
            self.plan = edit(self.client, self.run, self.plan.version, document)
        except ServerError as error:
            self.told = str(error)
            self.again()
        self.turn += shape

    def again(self) -> None:
        """As the server has it."""
        self.turn += 1
        try:
            self.plan = open_plan(self.client, self.run)
        except ServerError as error:
            self.told = str(error)


def plan(client: Client, run: str, question: str, story: Story) -> None:
    """The editor of the plan that a run waits with."""
    draft = _draft(client, run, question)
    with st.container(border=True):
        st.markdown("**This is the plan.** Nothing is called before you approve it; change what is not right.")
        if draft.told:
            st.warning(unmarked(draft.told))
        _whole_problems(draft.plan)
        for number in range(1, len(draft.plan.document.steps) + 1):
            _step(draft, number)
        _add(draft, story)
        _decide(draft)


def _draft(client: Client, run: str, question: str) -> Draft:
    drafts: dict[str, Draft] = st.session_state.setdefault("drafts", {})
    if run not in drafts or drafts[run].plan.input != question:
        drafts[run] = Draft(client, run)
    return drafts[run]


def _whole_problems(shown: OpenPlan) -> None:
    for one in shown.problems:
        if one.step is None:
            st.error(unmarked(one.message))


def _step(draft: Draft, number: int) -> None:
    shown, given = draft.plan, len(draft.plan.given)
    step = shown.document.steps[number - 1]
    tool = shown.tool(step.tool)
    key = f"{draft.run}-{draft.turn}-{number}"
    with st.container(border=True):
        name, up, down, out = st.columns([12, 1, 1, 1], vertical_alignment="center")
        changes = " :orange-badge[changes something]" if tool.changes else ""
        name.markdown(f"**{given + number}. {unmarked(tool_name(step.tool))}**{changes}")
        document = shown.document
        _button(
            up,
            ":material/arrow_upward:",
            f"up-{key}",
            "Earlier",
            number > 1,
            lambda: draft.put(moved(document, number, -1, given)),
        )
        last = number == len(document.steps)
        _button(
            down,
            ":material/arrow_downward:",
            f"down-{key}",
            "Later",
            not last,
            lambda: draft.put(moved(document, number, 1, given)),
        )
        _button(
            out,
            ":material/close:",
            f"out-{key}",
            "Remove this step",
            True,
            lambda: draft.put(removed(document, number, given)),
        )
        if tool.description:
            st.caption(unmarked(tool.description[:300]))
        arguments(shown, number, key, partial(draft.put))
        for one in shown.problems:
            if one.step == number and one.parameter is None:
                st.error(unmarked(one.message))


def _button(place: DeltaGenerator, icon: str, key: str, says: str, can: bool, do: Callable[[], None]) -> None:
    place.button(" ", icon=icon, key=key, help=says, disabled=not can, on_click=do, type="tertiary")


def _add(draft: Draft, story: Story) -> None:
    """From what the graph suggests, and from all that the walk has seen."""
    shown, given = draft.plan, len(draft.plan.given)
    with st.popover("Add a step", icon=":material/add:"):
        place = -1
        for count, one in enumerate(shown.suggestions):
            if one.after != place:
                place = one.after
                st.caption(f"After step {given + place}" if place else "Before the first step")
            put = partial(_put_new, draft, one.tool, one.after, count)
            label = unmarked(f"{tool_name(one.tool)}: {one.reason}"[:160])
            st.button(label, key=f"add-{draft.run}-{draft.turn}-{count}", width="stretch", on_click=put)
        seen = sorted({node.tool for node in story.nodes.values()}, key=tool_name)
        key = f"other-{draft.run}-{draft.turn}"
        st.selectbox(
            "Any tool that was considered",
            seen,
            index=None,
            format_func=tool_name,
            key=key,
            placeholder="Type to search",
            on_change=lambda: _put_new(draft, st.session_state[key], len(shown.document.steps), None),
        )


def _put_new(draft: Draft, tool: ToolId | None, after: int, suggestion: int | None) -> None:
    if tool:
        fills = None if suggestion is None else draft.plan.suggestions[suggestion].fills
        draft.put(added(draft.plan.document, tool, after, fills, len(draft.plan.given)))


def _decide(draft: Draft) -> None:
    attempt, approve, deny = st.columns(3)
    key = f"dry-{draft.run}"
    tries = draft.client.can("/runs/{run_id}/plan/dry-run")
    if tries and attempt.button("Try it without calling", key=f"try-{draft.run}", width="stretch"):
        try:
            st.session_state[key] = dry_run(draft.client, draft.run)
        except ServerError as error:
            st.error(unmarked(str(error)))
    ready = not draft.plan.problems
    if approve.button("Approve", key=f"approve-{draft.run}", type="primary", width="stretch", disabled=not ready):
        _answer(draft, "allow")
    if deny.button("Deny", key=f"deny-{draft.run}", width="stretch"):
        _answer(draft, "deny")
    if key in st.session_state:
        tried(st.session_state[key])


def _answer(draft: Draft, decision: str) -> None:
    try:
        draft.client.answer(draft.run, draft.plan.input, decision)
    except ServerError as error:
        draft.again()
        draft.told = str(error)
    else:
        st.session_state.drafts.pop(draft.run, None)
    st.rerun()
