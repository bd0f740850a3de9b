"""One source: what the gate says of its tools, and what is done with them; what changed, its keys, its past, who may use it."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.client import Client
from ui.gate_view import gate_html
from ui.language import listing, message, say, say_count
from ui.problems import ServerError
from ui.screens.key_fields import keeping
from ui.screens.operations import operations
from ui.screens.source_calls import calls
from ui.screens.source_changes import changes, history
from ui.screens.source_quality import quality
from ui.screens.source_settings import settings
from ui.screens.source_tool import tool_detail
from ui.screens.telling import told
from ui.source_words import CHECKS, about, admissible, changes_told, names_told, state_told, tools_told, when
from ui.sources import Source, SourceTool, admit_tools, check_source, source, source_tools
from ui.texts import labelled, unmarked, visible
from ui.tool_keys import Vault, source_vault

_TICK = 0.5
_TOOLS = message("Tools")
_CALLS = message("Calls")
_OPERATIONS = message("Operations")
_OF_KIND = {_CALLS: "form", _OPERATIONS: "openapi"}
"""Parts that only one kind of source has."""
_PARTS: dict[str, Callable[[Client, Source], None]] = {
    _CALLS: calls,
    message("Changes"): changes,
    _OPERATIONS: operations,
    message("Keys"): lambda client, one: _keys(client, one),
    message("Quality"): quality,
    message("History"): history,
    message("Settings"): settings,
}


def looking(client: Client, chosen: str) -> None:
    """``chosen``: its id."""
    if st.button(say("All sources"), icon=":material/arrow_back:", type="tertiary"):
        places.go("sources")
    try:
        one = source(client, chosen)
    except ServerError as error:
        if error.status not in (403, 404, 422):
            raise
        st.error(say("There is no such source.") if error.status == 422 else unmarked(str(error)))
        return
    st.title(unmarked(one.name))
    _head(one)
    if one.checking:
        st.fragment(lambda: _live(client, chosen), run_every=_TICK, key=f"gate-{chosen}")()
        return
    parts = [_TOOLS, *(name for name in _PARTS if _OF_KIND.get(name, one.kind) == one.kind)]
    part = st.segmented_control(
        say("Part"), parts, default=_TOOLS, format_func=say, key=f"part-{chosen}", label_visibility="collapsed"
    )
    if part in _PARTS:
        _PARTS[part](client, one)
    else:
        _tools(client, one)


def _head(one: Source) -> None:
    st.caption(unmarked(say("{facts} · read {when}", facts=about(one), when=when(one.read_at))))
    if one.trouble:
        st.warning(unmarked(say("It could not be read last: {trouble}", trouble=one.trouble)))
    _left_out(one)
    if one.check_trouble:
        st.warning(unmarked(say("The admission check stopped early: {trouble}", trouble=one.check_trouble)))
    if one.changes:
        breaking, changed = sum(change.breaks for change in one.changes), changes_told(len(one.changes))
        kept_out = say_count("1 change keeps a tool out", "{count:,} changes keep a tool out", breaking)
        st.warning(
            say("{changes} since it was read before; {kept_out}: see *Changes*.", changes=changed, kept_out=kept_out)
            if breaking
            else say("{changes} since it was read before: see *Changes*.", changes=changed)
        )


def _left_out(one: Source) -> None:
    """What of its document was not taken as it stands: which operation, why, and what to do."""
    if not one.notes:
        return
    st.warning(
        say(
            "Not everything was read as it stands. What was left out or mended is told here; to have it whole, correct the document and read it again under *Changes*."
        )
    )
    with st.expander(say_count("1 thing left out or mended", "{count:,} things left out or mended", len(one.notes))):
        for note in one.notes:
            st.text(visible(note))


def _live(client: Client, chosen: str) -> None:
    """The checks as they are made; at the end the page is drawn once more, with what can be done then."""
    try:
        now = source(client, chosen)
        tools = source_tools(client, chosen)
    except ServerError as error:
        st.error(unmarked(str(error)))
        return
    if not now.checking:
        st.rerun(scope="app")
    done, total = min(now.checked, now.to_check), max(now.to_check, 1)
    st.progress(
        done / total,
        say(
            "The admission check is running: {checked} of {tools} checked.",
            checked=now.checked,
            tools=tools_told(now.to_check),
        ),
    )
    st.html(gate_html(tools))


def _tools(client: Client, one: Source) -> None:
    tools = source_tools(client, one.id)
    if not tools:
        st.caption(say("It has no tools. Read it again under *Changes*, once there is something to be read."))
        return
    st.html(gate_html(tools))
    with st.expander(say("What the admission check looks at")):
        for name, asks in CHECKS.values():
            st.markdown(say("**{name}**: {text}", name=say(name), text=say(asks)))
    _missing_keys(client, one, tools)
    _for_all(client, one, tools)
    tool_detail(client, one, _chosen(one, tools))


def _chosen(one: Source, tools: list[SourceTool]) -> SourceTool:
    """The tool that is looked at: it stays so while the gate is at work, when nothing is chosen."""
    by_id = {tool.tool: tool for tool in tools}
    kept = f"looked-at-{one.id}"
    before = st.session_state.get(kept, "")
    index = list(by_id).index(before) if before in by_id else 0
    chosen = st.selectbox(
        say("Tool"), list(by_id), index=index, format_func=lambda tool: _title(by_id[tool]), key=f"tool-{one.id}"
    )
    st.session_state[kept] = chosen
    return by_id[chosen]


def _title(tool: SourceTool) -> str:
    return f"{tool.name} ({tool.document.method}, {state_told(tool)})"


def _for_all(client: Client, one: Source, tools: list[SourceTool]) -> None:
    """What can be done with all tools at once."""
    unchecked = [tool for tool in tools if tool.state == "draft"]
    ready = admissible(tools)
    with st.container(horizontal=True, gap="small"):
        check = say("Check all {count:,} tools", count=len(tools)) if len(tools) > 1 else say("Check its one tool")
        if st.button(check, type="primary" if unchecked else "secondary", key="check-all") and told(
            lambda: check_source(client, one.id, {})
        ):  # fmt: skip
            st.rerun()
        passed = tools_told(len(ready))
        label = say("Admit {tools} that passed", tools=passed) if ready else say("Admit what passed")
        if st.button(label, type="primary" if ready and not unchecked else "secondary", disabled=not ready, key="admit-all") and told(
            lambda: admit_tools(client, one.id, [tool.tool for tool in ready])
        ):  # fmt: skip
            st.toast(say("{tools} admitted: the next question can use them.", tools=passed))
            st.rerun()
    _uncalled(client, one, admissible(tools, called=False))


def _uncalled(client: Client, one: Source, tools: list[SourceTool]) -> None:
    """Those that the gate looked at and did not call: admitted by a choice of its own, never with the others."""
    if not tools:
        return
    with st.expander(say_count("1 tool was not called", "{count:,} tools were not called", len(tools))):
        st.caption(
            say(
                "Nobody has seen these work: {names}. The admission check calls nothing by itself that may change something, that lacks a value or that lacks a key; what each of them lacks stands at *Live call* below. A call that changes something asks its user first all the same.",
                names=unmarked(names_told([tool.tool for tool in tools])),
            )
        )
        admit = say("Admit {tools} without a call", tools=tools_told(len(tools)))
        if st.button(admit, key="admit-uncalled") and told(
            lambda: admit_tools(client, one.id, [tool.tool for tool in tools])
        ):
            st.rerun()


def _missing_keys(client: Client, one: Source, tools: list[SourceTool]) -> None:
    """Said before the gate is asked: without them there is no live call."""
    wanted = sorted({key.secret for tool in tools for key in tool.document.credentials})
    if not wanted:
        return
    vaults = [Vault(client), *([source_vault(client, one.id)] if one.keys_of == "source" else [])]
    kept = {key.name for vault in vaults for key in vault.kept()}
    if missing := [name for name in wanted if name not in kept]:
        st.info(
            say_count(
                "Its calls send a key that you have not kept: {names}. Keep it under *Keys* above, so that the admission check can call it.",
                "Its calls send keys that you have not kept: {names}. Keep them under *Keys* above, so that the admission check can call it.",
                len(missing),
                names=listing([labelled(one) for one in missing]),
            )
        )


def _keys(client: Client, one: Source) -> None:
    tools = source_tools(client, one.id)
    names = {key.secret: key.flows for tool in tools for key in tool.document.credentials}
    if not names:
        st.caption(say("Its calls send no keys."))
    hosts = sorted({tool.document.host for tool in tools if tool.document.host})
    if one.keys_of == "source":
        st.caption(say("All who may use it call with these keys. Their values are sealed and never shown."))
        keeping(source_vault(client, one.id), f"source-{one.id}", names, hosts)
        return
    st.caption(
        say(
            "Each user keeps an own key for it, under *Keys* in the side bar; *Settings* can have one key serve all. These are yours:"
        )
    )
    keeping(Vault(client), f"own-{one.id}", names, hosts, only=True)
