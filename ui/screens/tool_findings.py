"""What each check of the gate found out about a tool, in the gate's order: below one that did not pass, what to do, and where on the page."""

import streamlit as st

from ui.language import message, say
from ui.source_words import CHECKS, VERDICTS
from ui.sources import Finding, Source, SourceTool
from ui.texts import labelled, readable, unmarked

TRY, CORRECT = message("Check it with values of your own"), message("Correct what its document says")
_HERE = {
    "document": message("*Correct what its document says* below"),
    "auth": message("*Keys* above"),
    "probe": message("*Check it with values of your own* below"),
    "quality": message("*Correct what its document says* below"),
    "findable": message(
        "*Correct what its document says* and, with other requests, *Check it with values of your own* below"
    ),
}
"""Where on the page something can be done about a check that did not pass."""
_BY_HAND = ("document", "address", "name")
"""Checks of what an author has written down in fields."""
_RESTS_ON = {"probe": ("auth",), "quality": ("auth", "probe")}
"""Checks that fail where another one does, about which something can be done first."""


def findings(source: Source, tool: SourceTool) -> None:
    """One line for each check in its order; below one that did not pass, what to do."""
    if not tool.findings:
        st.caption(say("The admission check has not looked at it yet."))
    order = list(CHECKS)
    found = sorted(tool.findings, key=lambda one: order.index(one.check) if one.check in order else len(order))
    for number, one in enumerate(found):
        _finding(source, tool, number, one)


def _finding(source: Source, tool: SourceTool, number: int, one: Finding) -> None:
    """``number``: a check may find several things."""
    sign, said = VERDICTS.get(one.verdict, ("?", one.verdict))
    name, _ = CHECKS.get(one.check, (one.check, ""))
    line = f"**{sign} {unmarked(say(name))} {unmarked(say(said))}**  \n{unmarked(one.told)}"
    line += f"  \n{say('What to do: {advice}', advice=unmarked(one.advice))}" if one.advice else ""
    if one.verdict in ("failed", "warned") and (here := _here(source, tool, one.check)):
        line += f" → {say(here)}"
    match one.verdict:
        case "failed":
            st.error(line)
        case "warned":
            st.warning(line)
        case _:
            st.markdown(line)
    if one.evidence and st.toggle(
        say("What was seen: {name}", name=labelled(say(name))), key=f"saw-{tool.tool}-{number}"
    ):
        st.code(readable(one.evidence), language="json", wrap_lines=True)


def _here(source: Source, tool: SourceTool, check: str) -> str:
    """Where something can be done about it; empty where something else is to be done first, or it cannot be done here."""
    failed = {one.check for one in tool.findings if one.verdict == "failed"}
    if failed.intersection(_RESTS_ON.get(check, ())):
        return ""
    if source.kind == "form" and (check in _BY_HAND or (check == "auth" and not tool.document.credentials)):
        return message("*Calls* above")
    return _HERE.get(check, "")
