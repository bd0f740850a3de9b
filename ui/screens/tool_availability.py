"""How a tool has answered: in figures, and after each run as a plot."""

import streamlit as st

from ui.library import ToolRecord
from ui.texts import unmarked
from ui.tool_words import availability_told


def availability(now: float | None, record: ToolRecord) -> None:
    """``now``: the chance that a call succeeds; None: untested."""
    calls = record.calls + record.ok + record.transient + record.gone
    st.subheader("Availability")
    live = (
        f"{record.ok:,} of its live calls went well, {record.transient:,} failed for now, {record.gone:,} found it gone"
    )
    st.caption(
        f"{availability_told(now, calls, record.successes + record.ok)}; {record.successes:,} of {record.calls:,} imported calls and {live}."
    )
    for line in record.told:
        st.caption(unmarked(line))
    if len(record.over_time) > 1:
        points = {
            "at": [one.at for one in record.over_time],
            "availability": [one.availability for one in record.over_time],
        }
        st.line_chart(points, x="at", y="availability", height=200, alt="Its availability after each run")  # pyright: ignore[reportUnknownMemberType]
        first, last = record.over_time[0], record.over_time[-1]
        st.caption(
            f"After its last {len(record.over_time)} runs: from {first.availability:.2f} on {first.at:%Y-%m-%d} to "
            f"{last.availability:.2f} on {last.at:%Y-%m-%d}."
        )
