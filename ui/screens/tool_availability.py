"""How a tool has answered: in figures, and after each run as a plot."""

import streamlit as st

from ui.language import day, say
from ui.library import ToolRecord
from ui.texts import unmarked
from ui.tool_words import availability_told


def availability(now: float | None, record: ToolRecord) -> None:
    """``now``: the chance that a call succeeds; None: untested."""
    calls = record.calls + record.ok + record.transient + record.gone
    st.subheader(say("Availability"))
    live = say(
        "{ok:,} of its live calls went well, {transient:,} failed for now, {gone:,} found it gone",
        ok=record.ok,
        transient=record.transient,
        gone=record.gone,
    )
    st.caption(
        say(
            "{available}; {successes:,} of {calls:,} imported calls and {live}.",
            available=availability_told(now, calls, record.successes + record.ok),
            successes=record.successes,
            calls=record.calls,
            live=live,
        )
    )
    for line in record.told:
        st.caption(unmarked(line))
    if len(record.over_time) > 1:
        points = {
            (when := say("at")): [one.at for one in record.over_time],
            (share := say("availability")): [one.availability for one in record.over_time],
        }
        st.line_chart(points, x=when, y=share, height=200, alt=say("Its availability after each run"))  # pyright: ignore[reportUnknownMemberType]
        first, last = record.over_time[0], record.over_time[-1]
        st.caption(
            say(
                "After its last {count} runs: from {first:.2f} on {since} to {last:.2f} on {until}.",
                count=len(record.over_time),
                first=first.availability,
                since=day(first.at),
                last=last.availability,
                until=day(last.at),
            )
        )
