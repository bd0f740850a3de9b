"""What can be done with a run that has ended: the same again, with other values, or kept as a template."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from domain.model import JsonObject
from domain.plan import PlanDocument
from ui import places
from ui.client import Client
from ui.language import listing, say
from ui.plan_edits import filled
from ui.problems import ServerError
from ui.replies import Run
from ui.reruns import Done, Offered, done, rerun, rerun_text, rerun_with, save
from ui.run_state import RunState
from ui.screens import sharing
from ui.screens.copies import copies
from ui.screens.fields import field
from ui.screens.forget import forget
from ui.screens.questions import told
from ui.screens.verdict import verdict, verdict_told
from ui.texts import unmarked
from ui.walk_graph import tool_name

Panel = Literal["changes", "template"]
_RERUN = "/runs/{run_id}/rerun"


def after(client: Client, run: Run, story: RunState) -> None:
    """Below a run. What a server does not have is not offered."""
    if not client.can(_RERUN):
        return
    with st.container(horizontal=True, gap="small", key=f"done-{run.id}"):
        verdict(client, run)
        if st.button(say("Run again"), key=f"again-{run.id}", icon=":material/replay:", type="tertiary"):
            _anew(lambda: rerun(client, run.id), run)
        if run.outcome in ("answered", "partly"):
            _opens(say("Run again with changes"), "edit", "changes", run)
            if client.can("/templates"):
                _opens(say("Save as template"), "bookmark_add", "template", run)
            copies(client, run, story)
            if client.can(sharing.PATH):
                sharing.sharing(client, run)
        forget(client, run)
    verdict_told(run)
    panel = st.session_state.get(_key(run))
    if panel:
        _panel(client, run, panel)


def _panel(client: Client, run: Run, panel: Panel) -> None:
    try:
        made = _done(client, run)
    except ServerError as error:
        st.error(unmarked(str(error)))
        return
    if made.document is not None and not made.document.steps and not made.by_program:
        st.caption(say("This run called nothing that could be called again."))
    elif panel == "changes" and made.by_program:
        _values(client, run, made)
    elif panel == "changes" and made.document is not None:
        _changes(client, run, made, made.document)
    else:
        _template(client, run, made)


def _values(client: Client, run: Run, made: Done) -> None:
    """Its program with other values, or with another text."""
    values: JsonObject = {}
    with st.form(f"changes-{run.id}"):
        st.markdown(say("**The same program with other values.** Nothing else is planned."))
        for one in made.parameters:
            given = field(one.name, one.value_schema, f"again-{run.id}-{one.name}", one.value)
            if one.input is not None and given is not None:
                values[one.input] = given
        if st.form_submit_button(say("Run it"), type="primary"):
            _anew(lambda: rerun_with(client, run.id, values), run)
    with st.expander(say("Its text"), icon=":material/code:"), st.form(f"text-{run.id}"):
        written = made.program.program.text
        text = st.text_area(
            say("Program"), written, height=300, key=f"again-text-{run.id}", label_visibility="collapsed"
        )
        finds = [unmarked(one) for one in (*made.program.program.tools, *made.program.inputs)]
        st.caption(say("It finds: {names}", names=listing(finds)))
        if st.form_submit_button(say("Run this text")):
            _anew(lambda: rerun_text(client, run.id, made.program, text), run)


def _changes(client: Client, run: Run, made: Done, document: PlanDocument) -> None:
    """Its calls with other values, in their order."""
    with st.form(f"changes-{run.id}"):
        st.markdown(
            say(
                "**The same calls with other values.** Nothing else is planned; a value that is left empty is found anew."
            )
        )
        for number, step in enumerate(document.steps, 1):
            st.text(f"{number}. {tool_name(step.tool)}")
            for name, value in step.arguments.items():
                given = field(name, made.schema_of(number, name), f"again-{run.id}-{number}-{name}", value)
                if given != value:
                    document = filled(document, number, name, given)
            for name, take in step.takes.items():
                st.caption(
                    unmarked(
                        say(
                            "{name}: from step {step}, {field}",
                            name=name,
                            step=take.step,
                            field=take.field or say("its answer"),
                        )
                    )
                )
        if st.form_submit_button(say("Run these calls"), type="primary"):
            _anew(lambda: rerun(client, run.id, document), run)


def _template(client: Client, run: Run, made: Done) -> None:
    """A name, and which of the request's values may differ."""
    with st.form(f"template-{run.id}"):
        st.markdown(say("**Keep this run, to run it with other values.**"))
        name = st.text_input(say("Name of the template"), run.request[:80], max_chars=120)
        if made.choices:
            st.caption(
                say(
                    "What may differ next time, and by which name? Letters, digits and _; left empty, it stays as it is."
                )
            )
        names = [_named(run, one) for one in made.choices]
        if not st.form_submit_button(say("Save"), type="primary"):
            return
    if problem := wrong_names([called for called in names if called]):
        st.error(unmarked(problem))
        return
    chosen = {called: one for called, one in zip(names, made.choices, strict=True) if called}
    if told(lambda: save(client, run.id, name, chosen)):
        st.session_state.pop(_key(run), None)
        st.toast(say("Saved; it is under Templates and solutions."))
        st.rerun()


def wrong_names(names: list[str]) -> str:
    """What is wrong with the names of a template's parameters; empty where nothing is."""
    for name in names:
        if not (name.isascii() and name.isidentifier()):
            return say("{name} cannot be a name: take letters, digits and _, and no digit first.", name=name)
        if names.count(name) > 1:
            return say("Two values have the name {name}; give each its own.", name=name)
    return ""


def _named(run: Run, one: Offered) -> str:
    where = (
        say("{parameter} of step {step}", parameter=one.parameter, step=one.step) if one.input is None else one.input
    )
    label = unmarked(say("Name for {value} ({where})", value=f"{one.value!s:.60}", where=where))
    return st.text_input(
        label, one.name, max_chars=80, key=f"name-{run.id}-{one.step}-{one.parameter}-{one.input}"
    ).strip()


def _opens(label: str, icon: str, panel: Panel, run: Run) -> None:
    """A button that unfolds a panel, or folds it again."""
    if st.button(label, key=f"{panel}-{run.id}", icon=f":material/{icon}:", type="tertiary"):
        opened = st.session_state.get(_key(run)) == panel
        st.session_state[_key(run)] = None if opened else panel


def _anew(what: Callable[[], object], run: Run) -> None:
    """The new run is seen in its conversation, wherever the old one is looked at."""
    if told(what):
        st.session_state.pop(_key(run), None)
        if run.conversation_id and places.view():
            places.go(conversation=run.conversation_id)
        st.rerun()


def _done(client: Client, run: Run) -> Done:
    """Asked for once: a run that has ended stays as it is."""
    known: dict[str, Done] = st.session_state.setdefault("done", {})
    if run.id not in known:
        known[run.id] = done(client, run.id)
    return known[run.id]


def _key(run: Run) -> str:
    return f"after-{run.id}"
