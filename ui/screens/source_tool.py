"""A tool of a source: what each check found out, what to try it with, whether it is offered, what is said in place of its document."""

import streamlit as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.client import Client
from ui.language import listing, message, say
from ui.screens.telling import told
from ui.screens.tool_corrections import correcting
from ui.screens.tool_findings import CORRECT, TRY, findings
from ui.source_words import EFFECTS, state_told
from ui.sources import Input, Source, SourceTool, admit_tools, check_source, quarantine_tools
from ui.texts import clipped, labelled, unmarked, visible
from ui.tool_drafts import lines_of, text_of, value_of

_REQUIRED = message("{name}: {type} in {location}, required. {description}")
_OPTIONAL = message("{name}: {type} in {location}. {description}")


def tool_detail(client: Client, source: Source, tool: SourceTool) -> None:
    """All of it, from top to bottom."""
    _about(tool)
    findings(source, tool)
    _decide(client, source, tool)
    with st.expander(say(TRY)):
        _try(client, source, tool)
    with st.expander(say(CORRECT)):
        correcting(client, source, tool)
    with st.expander(say("Its document")):
        _document(tool)


def _about(tool: SourceTool) -> None:
    document = tool.document
    st.text(visible(f"{document.method} {document.url}"))
    st.text(visible(document.description or say("Its document says nothing of it.")))
    effect = document.effect
    offered = say("offered") if tool.offered else say("not offered")
    st.caption(
        unmarked(
            say(
                "It {effect}: {why}. {state}, {offered}.",
                effect=say(EFFECTS[effect.kind]),
                why=say(effect.why),
                state=state_told(tool).capitalize(),
                offered=offered,
            )
        )
    )
    if tool.gone:
        st.warning(say("Its source does not name it any more."))
    if tool.links == "partly":
        st.caption(
            say("What feeds it, and what it feeds, is known in part; half a minute after the last change all of it is.")
        )
    if tool.reason and tool.held:
        st.warning(unmarked(say("An administrator keeps it out: {reason}", reason=tool.reason)))
    elif tool.reason and tool.state == "quarantined":
        st.warning(
            unmarked(
                say(
                    "It is kept out: {reason}. Where its document has changed, check it again before you admit it.",
                    reason=tool.reason,
                )
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
            with st.popover(say("Keep it out")):
                reason = st.text_input(say("Why it is kept out"), max_chars=500, key=f"why-{tool.tool}")
                pressed = st.button(say("Keep it out now"), key=f"out-{tool.tool}")
                if pressed and not reason.strip():
                    st.error(say("Say why: whoever looks at it later wants to know."))
                elif pressed and told(lambda: quarantine_tools(client, source.id, [tool.tool], reason.strip())):
                    st.rerun()


def _admit(client: Client, source: Source, tool: SourceTool) -> None:
    if not tool.stopped:
        if not tool.called:
            st.caption(say("The admission check has not called it: nobody has seen it work."))
        if st.button(say("Admit it"), key=f"admit-{tool.tool}") and told(
            lambda: admit_tools(client, source.id, [tool.tool])
        ):
            st.rerun()
        return
    if client.account.user.role != "admin":
        st.caption(say("It cannot be admitted while a check fails."))
        return
    with st.popover(say("Admit it in spite of that")):
        st.caption(say("Only where its wording or its findability failed; whoever comes later reads why."))
        why = st.text_input(say("Why it is admitted"), max_chars=500, key=f"despite-{tool.tool}")
        pressed = st.button(say("Admit it now"), key=f"despite-now-{tool.tool}")
        if pressed and not why.strip():
            st.error(say("Say why: whoever looks at it later wants to know."))
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
            say("Requests that should find it, one on each line"), key=f"requests-{tool.tool}", max_chars=8000
        )
        allowed, note = False, ""
        if not effect.reads:
            st.caption(
                say(
                    "It may change something, so it is called only if you say so: with a test account, or where the change does no harm."
                )
            )
            allowed = st.checkbox(say("It may be called, and change something"), key=f"may-{tool.tool}")
            note = st.text_input(
                say("With which account, or why it does no harm"), max_chars=500, key=f"account-{tool.tool}"
            )
        pressed = st.form_submit_button(say("Check it"), key=f"check-now-{tool.tool}")
    if not pressed:
        return
    if allowed and not note.strip():
        st.error(say("Say with which account: it stands in the history."))
        return
    how: JsonObject = {"tools": [tool.tool], "allow_changes": allowed, "account_note": note.strip()}
    if arguments:
        how["arguments"] = {tool.tool: arguments}
    if lines := lines_of(requests):
        how["requests"] = {tool.tool: [*lines]}
    if told(lambda: check_source(client, source.id, how)):
        st.rerun()


def _argument(tool: SourceTool, one: Input) -> JsonValue:
    label = say("{name} (required)", name=labelled(one.name)) if one.required else labelled(one.name)
    known = tool.corrections.examples.get(one.name, one.example)
    hint = (
        ""
        if one.type == "string"
        else say("as JSON")
        if one.type in ("object", "array")
        else say("a value of type {type}", type=one.type)
    )
    about = unmarked(one.description[:400]) or None
    key = f"try-{tool.tool}-{tool.version}-{one.name}"
    return value_of(
        st.text_input(label, text_of(known), key=key, placeholder=hint, help=about, max_chars=4000), one.type
    )


def _document(tool: SourceTool) -> None:
    for one in tool.document.parameters:
        words = _REQUIRED if one.required else _OPTIONAL
        told = say(words, name=one.name, type=one.type, location=one.location, description=one.description)
        st.text(visible(told))
    if tool.document.example_response:
        st.caption(say("An answer of it"))
        st.code(clipped(tool.document.example_response), language="json", wrap_lines=True)
    if tool.document.credentials:
        names = listing([labelled(one.secret) for one in tool.document.credentials])
        st.caption(say("Keys that it sends: {names}", names=names))
    if tool.original.description != tool.document.description:
        st.caption(say("As its source describes it"))
        st.text(visible(tool.original.description))
