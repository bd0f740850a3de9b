"""A tool of a source: what each check found out, what to try it with, whether it is offered, what is said in place of its document."""

import streamlit as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.client import Client
from ui.screens.telling import told
from ui.screens.tool_corrections import correcting
from ui.screens.tool_findings import CORRECT, TRY, findings
from ui.source_words import EFFECTS, STATES
from ui.sources import Input, Source, SourceTool, admit_tools, check_source, quarantine_tools
from ui.texts import clipped, labelled, unmarked, visible
from ui.tool_drafts import lines_of, text_of, value_of


def tool_detail(client: Client, source: Source, tool: SourceTool) -> None:
    """All of it, from top to bottom."""
    _about(tool)
    findings(source, tool)
    _decide(client, source, tool)
    with st.expander(TRY):
        _try(client, source, tool)
    with st.expander(CORRECT):
        correcting(client, source, tool)
    with st.expander("Its document"):
        _document(tool)


def _about(tool: SourceTool) -> None:
    document = tool.document
    st.text(visible(f"{document.method} {document.url}"))
    st.text(visible(document.description or "Its document says nothing of it."))
    effect = document.effect
    offered = "offered" if tool.offered else "not offered"
    st.caption(
        unmarked(
            f"It {EFFECTS[effect.kind]}: {effect.why}. {STATES.get(tool.state, tool.state).capitalize()}, {offered}."
        )
    )
    if tool.gone:
        st.warning("Its source does not name it any more.")
    if tool.links == "partly":
        st.caption(
            "What feeds it, and what it feeds, is known in part; half a minute after the last change all of it is."
        )
    if tool.reason and tool.held:
        st.warning(unmarked(f"An administrator keeps it out: {tool.reason}"))
    elif tool.reason and tool.state == "quarantined":
        st.warning(
            unmarked(
                f"It is kept out: {tool.reason}. Where its document has changed, check it again before you admit it."
            )
        )
    elif tool.reason:
        st.warning(unmarked(tool.reason))


def _decide(client: Client, source: Source, tool: SourceTool) -> None:
    """Admit it, or keep it out with a reason."""
    with st.container(horizontal=True, gap="small"):
        if tool.state in ("tested", "quarantined"):
            _admit(client, source, tool)
        if tool.state != "quarantined":
            with st.popover("Keep it out"):
                reason = st.text_input("Why it is kept out", max_chars=500, key=f"why-{tool.tool}")
                pressed = st.button("Keep it out now", key=f"out-{tool.tool}")
                if pressed and not reason.strip():
                    st.error("Say why: whoever looks at it later wants to know.")
                elif pressed and told(lambda: quarantine_tools(client, source.id, [tool.tool], reason.strip())):
                    st.rerun()


def _admit(client: Client, source: Source, tool: SourceTool) -> None:
    if not tool.stopped:
        if st.button("Admit it", key=f"admit-{tool.tool}") and told(
            lambda: admit_tools(client, source.id, [tool.tool])
        ):
            st.rerun()
        return
    if client.account.user.role != "admin":
        st.caption("It cannot be admitted while a check fails.")
        return
    with st.popover("Admit it in spite of that"):
        st.caption("Only where its wording or its findability failed; whoever comes later reads why.")
        why = st.text_input("Why it is admitted", max_chars=500, key=f"despite-{tool.tool}")
        pressed = st.button("Admit it now", key=f"despite-now-{tool.tool}")
        if pressed and not why.strip():
            st.error("Say why: whoever looks at it later wants to know.")
        elif pressed and told(lambda: admit_tools(client, source.id, [tool.tool], why.strip())):
            st.rerun()


def _try(client: Client, source: Source, tool: SourceTool) -> None:
    """A check of this tool alone, with arguments for the live call and requests that should find it."""
    effect = tool.document.effect
    with st.form(f"check-{tool.tool}", border=False):
        arguments: JsonObject = {}
        for one in tool.document.parameters:
            given = _argument(tool, one)
            if given is not None:
                arguments[one.name] = given
        requests = st.text_area(
            "Requests that should find it, one on each line", key=f"requests-{tool.tool}", max_chars=8000
        )
        allowed, note = False, ""
        if not effect.reads:
            st.caption(
                "It may change something, so it is called only if you say so: with a test account, or where the change does no harm."
            )
            allowed = st.checkbox("It may be called, and change something", key=f"may-{tool.tool}")
            note = st.text_input(
                "With which account, or why it does no harm", max_chars=500, key=f"account-{tool.tool}"
            )
        pressed = st.form_submit_button("Check it", key=f"check-now-{tool.tool}")
    if not pressed:
        return
    if allowed and not note.strip():
        st.error("Say with which account: it stands in the history.")
        return
    how: JsonObject = {"tools": [tool.tool], "allow_changes": allowed, "account_note": note.strip()}
    if arguments:
        how["arguments"] = {tool.tool: arguments}
    if lines := lines_of(requests):
        how["requests"] = {tool.tool: [*lines]}
    if told(lambda: check_source(client, source.id, how)):
        st.rerun()


def _argument(tool: SourceTool, one: Input) -> JsonValue:
    label = labelled(one.name) + (" (required)" if one.required else "")
    known = tool.corrections.examples.get(one.name, one.example)
    hint = (
        "" if one.type == "string" else "as JSON" if one.type in ("object", "array") else f"a value of type {one.type}"
    )
    about = unmarked(one.description[:400]) or None
    key = f"try-{tool.tool}-{tool.version}-{one.name}"
    return value_of(
        st.text_input(label, text_of(known), key=key, placeholder=hint, help=about, max_chars=4000), one.type
    )


def _document(tool: SourceTool) -> None:
    for one in tool.document.parameters:
        needed = ", required" if one.required else ""
        st.text(visible(f"{one.name}: {one.type} in {one.location}{needed}. {one.description}"))
    if tool.document.example_response:
        st.caption("An answer of it")
        st.code(clipped(tool.document.example_response), language="json", wrap_lines=True)
    if tool.document.credentials:
        st.caption("Keys that it sends: " + ", ".join(labelled(one.secret) for one in tool.document.credentials))
    if tool.original.description != tool.document.description:
        st.caption("As its source describes it")
        st.text(visible(tool.original.description))
