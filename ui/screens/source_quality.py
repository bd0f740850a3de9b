"""How good the documents of a source are, by category: how many tools are kept, how many dropped, and why."""

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.source_words import names_told
from ui.sources import Source, quality_table
from ui.texts import visible

_MOST = 100
"""Reasons that are told of a category."""


def quality(client: Client, one: Source) -> None:
    """What the gate said of the wording of its tools, added up."""
    rows = quality_table(client, one.id)
    if not rows:
        st.caption(say("The admission check has not judged its documents yet."))
        return
    table = [
        {say("Category"): visible(row.category), say("Kept"): row.kept, say("Dropped"): row.dropped} for row in rows
    ]
    st.dataframe(table, hide_index=True, width="stretch")  # pyright: ignore[reportUnknownMemberType]
    for row in rows:
        for dropped in row.reasons[:_MOST]:
            st.text(visible(f"{names_told([dropped.tool])}: {dropped.reason}"))
