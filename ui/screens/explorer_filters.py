"""Which part of a neighbourhood is shown. What is chosen stands in the address."""

import streamlit as st

from ui import places
from ui.explorer import GraphPicture
from ui.language import message, say
from ui.screens.explorer_places import keep
from ui.tool_words import EFFECTS

_BY = {
    "": message("All of it"),
    "walks": message("Called one after the other"),
    "feeds": message("An answer fills a parameter"),
}
_DEPTHS = ("1", "2", "3")
_MOST = ("16", "24", "40", "80")
_USUAL = {"depth": "1", "most": "16", "least": "0.0"}


def wanted() -> dict[str, str | int | float]:
    """As the server is asked for it."""
    by, chosen = places.place("by"), dict[str, str | int | float]()
    chosen["depth"] = places.place("depth") if places.place("depth") in _DEPTHS else "1"
    chosen["limit"] = places.place("most") if places.place("most") in _MOST else "16"
    if by in ("walks", "feeds"):
        chosen["feeds" if by == "walks" else "walks"] = "false"
    if (least := _least()) > 0:
        chosen["least"] = least
    for name in ("toolset", "effect"):
        if said := places.place(name):
            chosen[name] = said
    return chosen


def filtering(found: GraphPicture) -> None:
    """Fields for it."""
    sets = list(dict.fromkeys(one.toolset for one in found.tools))
    if (said := places.place("toolset")) and said not in sets:
        sets.append(said)
    with st.expander(say("What is shown")), st.container(horizontal=True, gap="small"):
        _choice(say("Edges away"), "depth", list(_DEPTHS), {one: one for one in _DEPTHS})
        _choice(say("Tools at most"), "most", list(_MOST), {one: one for one in _MOST})
        _choice(say("Joined how"), "by", list(_BY), {one: say(text) for one, text in _BY.items()})
        st.slider(
            say("Least weight or score"), 0.0, 1.0, _least(), 0.05, key="graph-least", on_change=_kept, args=("least",)
        )
        _choice(say("Tool set"), "toolset", ["", *sets], {one: one or say("All") for one in ("", *sets)})
        effects = {"": say("Anything")} | {one: say(text) for one, text in EFFECTS.items()}
        _choice(say("What a call does"), "effect", list(effects), effects)


def _choice(label: str, name: str, options: list[str], words: dict[str, str]) -> None:
    chosen = places.place(name) or _USUAL.get(name, "")
    st.selectbox(
        label,
        options,
        index=options.index(chosen) if chosen in options else 0,
        format_func=words.__getitem__,
        key=f"graph-{name}",
        on_change=_kept,
        args=(name,),
        width=180,
    )


def _kept(name: str) -> None:
    said = str(st.session_state.get(f"graph-{name}", ""))
    keep(name, "" if said == _USUAL.get(name, "") else said)


def _least() -> float:
    try:
        return min(1.0, max(0.0, float(places.place("least"))))
    except ValueError:
        return 0.0
