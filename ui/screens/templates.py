"""Runs that were kept: one of them is chosen, gets its values, and is run in the open conversation."""

import json

import streamlit as st

from domain.plan import PlanDocument, PlannedStep
from ui import places
from ui.client import Client
from ui.language import listing, say
from ui.reruns import WholeTemplate, differences, remove_template, run_template, take, template
from ui.screens.kept_changes import changing_template
from ui.screens.questions import told
from ui.screens.running import run_in, values_form
from ui.texts import unmarked, visible
from ui.walk_graph import tool_name


def template_page(client: Client, conversation: str, chosen: str) -> None:
    """``conversation``: where it is run; empty: in a new one, of the template's name."""
    found = template(client, chosen)
    st.title(unmarked(found.name))
    _about(found)
    if found.newer:
        _offer(client, found, found.newer)
    elif found.own and found.version > 1:
        _changed(client, found)
    _form(client, found, conversation)
    if found.own:
        changing_template(client, found)
        _remove(client, found)


def _about(found: WholeTemplate) -> None:
    if found.description:
        st.text(found.description)
    content = found.content
    if content.problem:
        st.warning(
            unmarked(
                say("Version {version} cannot be run: {problem}", version=content.version, problem=content.problem)
            )
        )
    if content.document is not None:
        st.caption(say("Version {version} calls:", version=content.version))
        for line in said_of(content.document):
            st.text(line)
    elif content.program is not None:
        st.caption(say("Version {version} is this program:", version=content.version))
        st.code(visible(content.program.program.text), language="python")
    if found.content.request:
        st.caption(say("Asks: {request}", request=unmarked(found.content.request)))


def said_of(document: PlanDocument) -> list[str]:
    """A line for each step: what it calls, and where each of its values comes from, whole; what would not be seen as its code."""
    lines = [f"{number}. {_call(step)}" for number, step in enumerate(document.steps, 1)]
    return ["".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in line) for line in lines]


def _call(step: PlannedStep) -> str:
    values = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in step.arguments.items()]
    values += [say("{name} = your {own}", name=name, own=own) for name, own in step.named.items()]
    values += [
        say("{name} = what step {step} gave at {field}", name=name, step=take.step, field=take.field)
        if take.field
        else say("{name} = what step {step} gave", name=name, step=take.step)
        for name, take in step.takes.items()
    ]
    tool = tool_name(step.tool)
    return say("{tool} with {values}", tool=tool, values=listing(values)) if values else tool


def _offer(client: Client, found: WholeTemplate, newer: int) -> None:
    """A newer version of another's, with what it does otherwise: it is run by nobody who has not taken it."""
    with st.expander(
        say("Version {newer} is there; you run version {taken}", newer=newer, taken=found.taken),
        icon=":material/update:",
    ):
        changes = differences(client, found.id).changes
        st.caption(say("What it does otherwise:") if changes else say("It does nothing otherwise."))
        for change in changes:
            st.text(change.said)
        key = f"take-{found.id}-{newer}"
        if st.button(say("Take version {newer}", newer=newer), key=key) and told(lambda: take(client, found.id, newer)):
            st.rerun()


def _changed(client: Client, found: WholeTemplate) -> None:
    """What the latest version of one's own does otherwise than the one before it."""
    if not st.toggle(say("What version {version} does otherwise", version=found.version), key=f"changed-{found.id}"):
        return
    changes = differences(client, found.id).changes
    for change in changes:
        st.text(change.said)
    if not changes:
        st.caption(say("Nothing."))


def _form(client: Client, found: WholeTemplate, conversation: str) -> None:
    version = found.content.version
    values = values_form(f"{found.id}-{version}", found.content.parameters)
    if values is not None:
        run_in(client, conversation, found.name, lambda talk: run_template(client, found.id, talk, values, version))


def _remove(client: Client, found: WholeTemplate) -> None:
    with st.popover(say("Delete this template")):
        st.caption(say("With all its versions. Its runs stay."))
        if st.button(say("Delete it"), key=f"remove-{found.id}") and told(lambda: remove_template(client, found.id)):
            places.go("kept")
