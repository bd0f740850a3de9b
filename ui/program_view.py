"""Programs on the page: the text as code, below it its calls by the lines that make them, and what became of it."""

from itertools import groupby

import streamlit as st

from ui.call_view import draw_repeated
from ui.program_state import Written, line_of, site_of
from ui.run_state import Call, RunState
from ui.texts import unmarked

_MOST = 20_000
_SAYS = {"yes": "all of it", "partly": "a part of it", "no": "none of it"}


def draw_programs(story: RunState, *, unfolded: bool) -> None:
    """In the order in which they were written; the last one open while ``unfolded``."""
    for place, program in enumerate(story.programs):
        last = place == len(story.programs) - 1
        with st.expander(f"{_name(program)}: {unmarked(program.became)}", expanded=unfolded and last):
            st.code(program.text[:_MOST], language="python", line_numbers=True, wrap_lines=True)
            for complaint in program.complaints:
                st.text(complaint)
            if program.error:
                st.text(program.error)
            for shown in program.looks:
                st.caption("What it looked at:")
                st.code(shown[:_MOST], language=None, wrap_lines=True)
        for line, calls in by_place(story, program):
            draw_repeated(story, calls, line)
        if program.ended:
            st.caption(unmarked(verdict(program)))


def by_place(story: RunState, program: Written) -> list[tuple[int, list[Call]]]:
    """The calls of a program by their places in its text, in the order of the text, each with its line."""
    if not program.number:
        return []
    own = [one for one in story.calls if (one.subtask, site_of(one.site)[0]) == (program.subtask, program.number)]
    own.sort(key=lambda call: site_of(call.site)[1])
    return [
        (line_of(program.text, place), list(calls))
        for place, calls in groupby(own, key=lambda call: site_of(call.site)[1])
    ]


def verdict(program: Written) -> str:
    """What a program said of itself, and what was made of it."""
    if not (end := program.ended):
        return ""
    told = f"The program says that it serves {_SAYS[end.answered]}."
    if end.verdict != end.answered:
        told += f" It counts as {_SAYS[end.verdict]}" + (f": {end.veto}" if end.veto else "") + "."
    return told + (f" Missing: {end.missing}" if end.missing else "")


def _name(program: Written) -> str:
    if not program.number:
        return "Program"
    return f"Program, part {program.number}" if program.goes_on else f"Program {program.number}"
