"""Tables of short texts."""

from collections.abc import Mapping, Sequence

import streamlit as st

from ui.texts import unmarked


def table(rows: Sequence[Mapping[str, str]]) -> None:
    """A row each, by the names of the columns. What stands in a cell is shown as it is, whoever wrote it."""
    shown = [{name: unmarked(text) for name, text in row.items()} for row in rows]
    st.table(shown, hide_index=True)  # pyright: ignore[reportUnknownMemberType]
