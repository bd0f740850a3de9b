"""Embeddings, for administrators: which encoder finds the tools, and a change of it that is looked at before it counts."""

from collections.abc import Callable

import streamlit as st

from ui.client import Client
from ui.embeddings import (
    Choice,
    Embeddings,
    Vectors,
    compare,
    discard,
    drop,
    embeddings,
    prepare,
    switch,
    switch_back,
)
from ui.jobs import Job
from ui.language import moment, say
from ui.screens.encoder_comparison import changes, figures
from ui.screens.job import followed
from ui.screens.tables import table
from ui.screens.telling import told
from ui.texts import unmarked

_DONE = "embeddings-done"
"""What was just done, told once it can be seen."""


def all_embeddings(client: Client) -> None:
    """What is in use first; then the one step that comes next."""
    st.title(say("Embeddings"))
    st.caption(
        say(
            "Requests find tools by vectors that an encoder makes. Another encoder needs new vectors: they are made beside those in use, compared, and only then switched to."
        )
    )
    if done := st.session_state.pop(_DONE, ""):
        st.success(done)
    found = embeddings(client)
    _in_use(found)
    if found.job is not None and found.job.open:
        _working(client, found.job)
    elif found.beside is not None:
        _prepared(client, found, found.beside)
    elif found.former is not None:
        _switched(client, found.former)
    else:
        _choosing(client, found)


def named(vectors: Vectors | Choice, kind: str) -> str:
    """What people call an encoder; its name may be anybody's."""
    match kind:
        case "bundled":
            return say("The encoder that comes along")
        case "settings":
            return say("The encoder of the server's settings")
        case _:
            return unmarked(vectors.name or vectors.identity)


def _kind(key: str) -> str:
    return key.partition(":")[0]


def _in_use(found: Embeddings) -> None:
    st.subheader(say("In use"))
    one = found.in_use
    if one is None:
        st.info(
            say("No tool is indexed yet. Import tools or add a source, then an encoder can be compared with another.")
        )
        return
    with st.container(horizontal=True):
        st.metric(say("Tools"), say("{count:,}", count=found.tools))
        st.metric(say("Dimension"), say("{count:,}", count=one.dimension))
    since = say("since {at}", at=moment(one.at)) if one.at else say("since the store was made")
    st.text(f"{named(one, _kind(one.key))}, {since}")
    st.caption(unmarked(one.identity))


def _choosing(client: Client, found: Embeddings) -> None:
    """Nothing is prepared."""
    st.subheader(say("Another encoder"))
    others = [one for one in found.choices if found.in_use is None or one.identity != found.in_use.identity]
    usable = [one for one in others if not one.unusable]
    if found.job is not None and found.job.state == "failed":
        st.error(say("The last preparation failed: {why}", why=unmarked(found.job.trouble)))
    if not others:
        st.info(say("There is no other encoder yet. Set up an embedding service under Models, or put an exported encoder into the server's folder of encoders (FOOTPATH_ENCODERS)."))  # fmt: skip
        return
    table([_row(one) for one in others])
    if not usable or found.in_use is None:
        return
    names = {one.key: named(one, one.kind) for one in usable}
    chosen = st.selectbox(say("Prepare which"), list(names), format_func=names.__getitem__, key="embeddings-choice")
    st.caption(say("Searches go on with the encoder in use meanwhile, somewhat slower while an encoder of this machine works. Nothing is switched by this."))  # fmt: skip
    _button(say("Prepare"), lambda: prepare(client, chosen), "")


def _row(one: Choice) -> dict[str, str]:
    known: list[str] = []
    if one.bytes is not None:
        known.append(say("runs on this machine, {size:,} MB", size=round(one.bytes / 1e6)))
    if one.seconds is not None:
        known.append(say("{seconds:.2f} s for a text", seconds=one.seconds))
    if one.texts_a_second is not None:
        known.append(say("{count:,} texts a second", count=round(one.texts_a_second)))
    if one.price is not None:
        known.append(say("{price} for a million tokens", price=f"{one.price:g}"))
    return {
        say("Encoder"): named(one, one.kind),
        say("Dimension"): "" if one.dimension is None else say("{count:,}", count=one.dimension),
        say("What is known"): one.unusable or ", ".join(known),
    }


def _working(client: Client, known: Job) -> None:
    st.subheader(say("Being prepared"))
    followed(client, known)
    st.caption(say("Searches go on meanwhile; this page may be left."))


def _prepared(client: Client, found: Embeddings, beside: Vectors) -> None:
    last = found.job
    st.subheader(say("Prepared: {name}", name=named(beside, _kind(beside.key))))
    st.caption(unmarked(beside.identity))
    if last is not None and last.state == "failed":
        st.error(say("The last preparation failed: {why}", why=unmarked(last.trouble)))
    if not found.ready:
        st.warning(say("Not all tools have vectors of it yet. Go on: what was made is kept. Or discard it."))
        with st.container(horizontal=True):
            _button(say("Go on"), lambda: prepare(client, beside.key), "")
            _discard(client)
        return
    if found.comparison is None:
        st.warning(say("It has not been compared with the one in use."))
    else:
        figures(found.comparison)
    with st.container(horizontal=True):
        _button(
            say("Switch"), lambda: switch(client), say("Switched. The former vectors are kept: you can switch back.")
        )
        _button(say("Compare again"), lambda: compare(client), "", primary=False)
        _discard(client)
    if found.comparison is not None:
        changes(found.comparison)


def _discard(client: Client) -> None:
    _button(say("Discard"), lambda: discard(client), say("What was prepared is deleted."), primary=False)


def _switched(client: Client, former: Vectors) -> None:
    """A change is over once what was before is deleted."""
    st.subheader(say("The former encoder is kept"))
    st.text(say("{name}, {count:,} numbers in a vector", name=named(former, _kind(former.key)), count=former.dimension))
    st.caption(say("Switch back where answers got worse: what came meanwhile is taken in first. Once its vectors are deleted, another encoder can be prepared."))  # fmt: skip
    with st.container(horizontal=True):
        _button(say("Switch back"), lambda: switch_back(client), say("Switched back."))
        with st.popover(say("Delete its vectors")):
            st.text(say("Nobody can switch back then. It can be prepared anew."))
            _button(say("Delete them"), lambda: drop(client), say("The former vectors are deleted."), primary=False)


def _button(label: str, act: Callable[[], object], done: str, *, primary: bool = True) -> None:
    pressed = st.button(label, type="primary" if primary else "secondary", key=f"embeddings-{label}")
    if pressed and told(act):
        st.session_state[_DONE] = done
        st.rerun()
