"""The store verified: what differs, what to do, and mended."""

from collections.abc import Mapping
from typing import cast

import streamlit as st

from domain.model import JsonObject
from ui.client import Client
from ui.data import verify
from ui.jobs import jobs
from ui.language import listing, message, say
from ui.screens.job import followed
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked

_SHOWN = 5
_DIFFERENCES = {
    ("vectors", "missing"): message("{count:,} tools have no vectors: requests find them by their words alone"),
    ("vectors", "changed"): message("{count:,} tools have vectors of an older document"),
    ("vectors", "orphans"): message("{count:,} vectors are of tools that are not there"),
    ("words", "missing"): message("{count:,} tools are not in the index of words"),
    ("words", "changed"): message("{count:,} tools are in the index of words with an older document"),
    ("words", "orphans"): message("{count:,} entries of the index of words are of tools that are not there"),
    ("solutions", "unseen"): message("{count:,} solutions are not found by all of their patterns"),
}


def verifying(client: Client) -> None:
    """The last time, and again."""
    st.caption(
        say(
            "Every document of the graph must be indexed, as it is now and by the encoder in use, and nothing else. Nothing is changed by looking; *Mend* makes the indexes equal to the documents."
        )
    )
    found = jobs(client, "verify", limit=1)
    going_on = bool(found) and found[0].open
    if st.button(
        say("Verify now"), type="primary", icon=":material/fact_check:", key="verify", disabled=going_on
    ) and told(lambda: verify(client)):
        st.rerun()
    if not found:
        st.info(say("It was not verified yet."))
        return
    followed(client, found[0])
    if found[0].result is not None and not going_on:
        st.caption(say("Verified {when}", when=when(found[0].finished_at)))
        _findings(client, found[0].result)


def _findings(client: Client, result: JsonObject) -> None:
    if result.get("equal"):
        st.success(say("Nothing differs: every tool and every solution is found as it should be."))
        return
    if "vectors" not in result:
        st.error(say("The vectors are those of another encoder: {why}", why=unmarked(str(result.get("encoder", "")))))
    for (part, kind), words in _DIFFERENCES.items():
        counted = _part(_part(result, part), kind)
        if count := counted.get("count"):
            first = counted.get("first")
            listed = cast("list[object]", first) if isinstance(first, list) else []
            names = [unmarked(str(one)) for one in listed[:_SHOWN]]
            st.warning(f"{say(words, count=count)}  \n{listing(names)}{' …' if cast('int', count) > _SHOWN else ''}")
    st.caption(say("While it is mended, the server goes on; nobody can admit tools of sources meanwhile."))
    if st.button(say("Mend"), type="primary", icon=":material/build:", key="mend") and told(
        lambda: verify(client, mend=True)
    ):
        st.rerun()


def _part(of: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = of.get(name)
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}
