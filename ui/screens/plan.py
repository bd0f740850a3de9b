"""A plan before it is carried out: as steps, cards that are changed in place, or as code; tried out, approved or denied."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from domain.plan import Take
from domain.tool import ToolId
from ui.client import Client
from ui.language import message, say
from ui.plan_edits import added, filled, moved, removed
from ui.plans import dry_run
from ui.problems import ServerError
from ui.run_state import RunState
from ui.screens.add_step import adding
from ui.screens.draft import Draft, draft_of
from ui.screens.dry_run import Destination, tried
from ui.screens.plan_code import code, diagram, whole_problems
from ui.screens.step import Put, arguments
from ui.texts import unmarked
from ui.walk_graph import tool_name

_STEPS, _CODE = message("Steps"), message("Code")


def plan(client: Client, run: str, question: str, story: RunState) -> None:
    """The editor of the plan that a run waits with."""
    draft = draft_of(client, run, question)
    with st.container(border=True):
        st.markdown(say("**This is the plan.** Nothing is called before you approve it; change what is not right."))
        _tell(draft)
        as_steps = _form(draft) == _STEPS
        whole_problems(draft.plan)
        if as_steps:
            for number in range(1, len(draft.plan.steps.steps) + 1):
                _step(draft, number)
            adding(draft.plan, story, f"{run}-{draft.turn}", partial(_put_new, _putting(draft), len(draft.plan.given)))
        else:
            code(draft)
        diagram(draft.plan)
        _decide(draft, as_steps=as_steps)


def _tell(draft: Draft) -> None:
    """What was not done, and what can be done about a text that the server did not keep."""
    if draft.told:
        st.warning(unmarked(draft.told))
    if draft.pending is not None:
        mine, kept = st.columns(2)
        mine.button(say("Keep mine"), key=f"mine-{draft.run}", width="stretch", on_click=draft.insist)
        kept.button(say("Take the kept one"), key=f"kept-{draft.run}", width="stretch", on_click=draft.take_kept)


def _form(draft: Draft) -> str:
    """Whether it is shown as steps or as code: as steps where it is no more than these, unless somebody chooses otherwise."""
    shown = draft.plan
    if draft.pending is not None:
        return _CODE
    if shown.document is None:
        if shown.why_no_steps:
            st.caption(unmarked(say("As code: {why}", why=say(shown.why_no_steps))))
        return _CODE
    key = f"form-{draft.run}"
    chosen = st.segmented_control(
        say("Show the plan as"),
        [_STEPS, _CODE],
        format_func=say,
        default=_CODE if shown.program.speaks else _STEPS,
        key=key,
        label_visibility="collapsed",
    )
    if chosen != _CODE and shown.program.speaks:
        st.caption(
            say(
                "Once it is changed here, its answer is put together from what the calls answer, not from the last line."
            )
        )
    return chosen or _STEPS


def _step(draft: Draft, number: int) -> None:
    shown, given = draft.plan, len(draft.plan.given)
    step = shown.steps.steps[number - 1]
    tool = shown.tool(step.tool)
    key, put = f"{draft.run}-{draft.turn}-{number}", _putting(draft)
    with st.container(border=True):
        changes = f" :orange-badge[{say('changes something')}]" if tool.changes else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{given + number}. {unmarked(tool_name(step.tool))}**{changes}", width="stretch")
            place, later = given + number, number < len(shown.steps.steps)
            _button(
                message("Earlier"),
                "arrow_upward",
                place,
                key,
                number > 1,
                lambda: put(lambda old: moved(old, number, -1, given)),
            )
            _button(
                message("Later"),
                "arrow_downward",
                place,
                key,
                later,
                lambda: put(lambda old: moved(old, number, 1, given)),
            )
            _button(message("Remove"), "close", place, key, True, lambda: put(lambda old: removed(old, number, given)))
        if tool.description:
            st.caption(unmarked(tool.description[:300]))
        if tool.host:
            st.caption(say("At {host}", host=unmarked(tool.host)))
        arguments(shown, number, key, put)
        for one in shown.problems:
            if one.step == number and one.parameter is None:
                st.error(unmarked(one.message))


def _button(does: str, icon: str, number: int, key: str, can: bool, click: Callable[[], None]) -> None:
    """An icon; what it does is read out and told on hovering."""
    label = say("{does}: step {number}", does=say(does), number=number)
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
    return partial(draft.put, draft.turn, draft.plan.steps)


def _decide(draft: Draft, *, as_steps: bool) -> None:
    with st.container(key=f"decide-{draft.run}"):  # it stays in sight while a long plan is scrolled
        attempt, approve, deny = st.columns(3)
    tries, kept = draft.client.can("/runs/{run_id}/plan/dry-run"), draft.pending is None
    if (
        tries
        and attempt.button(say("Try it without calling"), key=f"try-{draft.run}", width="stretch", disabled=not kept)
        and kept
    ):
        try:
            draft.tried = dry_run(draft.client, draft.run)
        except ServerError as error:
            st.error(unmarked(str(error)))
        else:
            st.rerun()
    ready = draft.plan.sound and kept
    pressed = approve.button(
        say("Approve"), key=f"approve-{draft.run}", type="primary", width="stretch", disabled=not ready
    )
    if pressed and kept:
        _answer(draft, "allow")
    if deny.button(say("Deny"), key=f"deny-{draft.run}", width="stretch"):
        _answer(draft, "deny")
    if draft.tried is not None:
        tried(draft.plan, draft.tried, f"{draft.run}-{draft.turn}", _destination(draft, as_steps=as_steps))


def _destination(draft: Draft, *, as_steps: bool) -> Destination:
    """Where a value goes that is picked from a response."""
    put = _putting(draft)

    def into(step: int, parameter: str, take: Take) -> None:
        put(lambda old: filled(old, step, parameter, take))

    return Destination(step=into) if as_steps else Destination(text=draft.insert)


def _answer(draft: Draft, decision: str) -> None:
    try:
        version = draft.plan.version if decision == "allow" else None
        draft.client.answer(draft.run, draft.plan.input, decision, version=version)
    except ServerError as error:
        draft.again()
        draft.told = str(error)
    else:
        st.session_state.drafts.pop(draft.run, None)
    st.rerun()
