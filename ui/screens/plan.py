"""A plan before it is carried out: its steps as cards that are changed in place, tried out, approved or denied."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from domain.plan_document import PlanDocument, Take
from domain.tool import ToolId
from ui.client import Client
from ui.plan_edits import added, moved, removed
from ui.plans import OpenPlan, dry_run, edit, open_plan
from ui.problems import ServerError
from ui.run_state import RunState
from ui.screens.add_step import adding
from ui.screens.dry_run import tried
from ui.screens.step import Change, Put, arguments
from ui.texts import unmarked
from ui.walk_graph import tool_name

_LATE = "The plan had changed before this reached it, so it was not done. This is the plan as it stands."


class Draft:
    """The plan of a run in this visit. ``turn`` counts changes of its shape: fields are drawn anew then, and only then."""

    def __init__(self, client: Client, run: str) -> None:
        self.client, self.run = client, run
        self.turn = 0
        self.told = ""
        self.plan: OpenPlan = open_plan(client, run)

    def put(self, turn: int, drawn: PlanDocument, change: Change, *, shape: bool = True) -> None:
        """Keep a change at the server, which checks it; told why where it does not take it.

        ``turn`` and ``drawn``: what was on the page. Where a click comes while the page is drawn, Streamlit calls fields once more
        that nobody touched, also such as are no longer there, whose step may be another one by now.
        """
        if turn != self.turn:
            self.told = _LATE if change(drawn) != drawn else self.told
            return
        document = change(self.plan.document)
        if document == self.plan.document:
            return
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


def plan(client: Client, run: str, question: str, story: RunState) -> None:
    """The editor of the plan that a run waits with."""
    draft = _draft(client, run, question)
    with st.container(border=True):
        st.markdown("**This is the plan.** Nothing is called before you approve it; change what is not right.")
        if draft.told:
            st.warning(unmarked(draft.told))
        _whole_problems(draft.plan)
        for number in range(1, len(draft.plan.document.steps) + 1):
            _step(draft, number)
        adding(draft.plan, story, f"{run}-{draft.turn}", partial(_put_new, _putting(draft), len(draft.plan.given)))
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
    key, put = f"{draft.run}-{draft.turn}-{number}", _putting(draft)
    with st.container(border=True):
        changes = " :orange-badge[changes something]" if tool.changes else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{given + number}. {unmarked(tool_name(step.tool))}**{changes}", width="stretch")
            place, later = given + number, number < len(shown.document.steps)
            _button(
                "Earlier",
                "arrow_upward",
                place,
                key,
                number > 1,
                lambda: put(lambda old: moved(old, number, -1, given)),
            )
            _button("Later", "arrow_downward", place, key, later, lambda: put(lambda old: moved(old, number, 1, given)))
            _button("Remove", "close", place, key, True, lambda: put(lambda old: removed(old, number, given)))
        if tool.description:
            st.caption(unmarked(tool.description[:300]))
        if tool.host:
            st.caption(f"At {unmarked(tool.host)}")
        arguments(shown, number, key, put)
        for one in shown.problems:
            if one.step == number and one.parameter is None:
                st.error(unmarked(one.message))


def _button(does: str, icon: str, number: int, key: str, can: bool, click: Callable[[], None]) -> None:
    """An icon; what it does is read out and told on hovering."""
    label = f"{does}: step {number}"
    st.button(
        label,
        icon=f":material/{icon}:",
        key=f"icon-{does}-{key}",
        help=label,
        disabled=not can,
        on_click=click,
        type="tertiary",
    )


def _put_new(put: Put, given: int, tool: ToolId, after: int, fills: dict[str, Take]) -> None:
    put(lambda old: added(old, tool, after, fills, given))


def _putting(draft: Draft) -> Put:
    """For what is drawn now."""
    return partial(draft.put, draft.turn, draft.plan.document)


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
