"""Programs on the page, in the order in which they were written: the text with the state of its lines, its calls, what became of it."""

from collections.abc import Sequence

import streamlit as st

from ui.call_graph import DrawnCall, DrawnFeed, call_dot, told_calls
from ui.call_view import CallsView, folded
from ui.calls import SIGNS
from ui.code_view import code_html
from ui.language import listing, message, say, say_count, sentences
from ui.program_state import Written
from ui.run_calls import CallPlace, ProgramCalls
from ui.run_summary import seconds_told
from ui.texts import clipped, unmarked

_SAYS = {"yes": message("all of it"), "partly": message("a part of it"), "no": message("none of it")}
_SIGN = {"yes": "✓", "partly": "◐", "no": "✗"}


def draw_programs(texts: Sequence[Written], calls: CallsView, *, live: bool) -> None:
    """The last one as it is, those before it folded: cells that stopped to look, and what was refused or broke off; where none was written, why, last."""
    written = [one for one in texts if one.text]
    for number, program in enumerate(written, 1):
        named = say("{what}: {text}", what=_name(program, number, len(written)), text=unmarked(program.became))
        title = f"{_sign(program)} {named}"
        if program is written[-1]:
            st.markdown(f"**{title}**")
            _draw(program, calls, live=live)
            continue
        made = sum(len(one) for one in program.calls.values())
        several = [say_count("1 call", "{count:,} calls", made)] if made else []
        with folded(listing([title, *several]), f"{calls.key}-text-{number}") as opened:
            if opened:
                _draw(program, calls, live=live)
    _not_written(list(dict.fromkeys(why for one in texts if not one.text for why in one.complaints)), calls.key)


def _not_written(reasons: Sequence[str], key: str) -> None:
    """Why a planner that was tried wrote nothing, each reason once: that is no failure, since another went on."""
    if not reasons:
        return
    with folded(say("Tried and not used"), f"{key}-not-written") as opened:
        if opened:
            for why in reasons:
                st.caption(unmarked(say("No program was written: {why}.", why=clipped(why))))


def verdict(program: Written) -> str:
    """What a program said of itself, and what was made of it."""
    if not (end := program.ended):
        return ""
    told = [say("The program says that it serves {part}.", part=say(_SAYS[end.answered]))]
    if end.verdict != end.answered:
        counts = say(_SAYS[end.verdict])
        told.append(
            say("It counts as {part}: {why}.", part=counts, why=end.veto)
            if end.veto
            else say("It counts as {part}.", part=counts)
        )
    if end.missing:
        told.append(say("Missing: {missing}", missing=end.missing))
    return sentences(told)


def _draw(program: Written, calls: CallsView, *, live: bool) -> None:
    if program.text:
        states = program.lines(calls.waits) if program.number else {}
        functions = sorted({one.function for one in program.read.calls})
        st.html(code_html(program.text, states, _notes(program), functions, say("The program's text")))
    for told in (*program.complaints, program.error):
        if told:
            st.text(clipped(told))
    _looked(program, calls)
    for place, line, _ in program.called:
        if made := program.calls.get(place):
            own = f"{program.subtask}-{program.number}-{place}"
            calls.place(made, line, own, program.times[line].seconds)
    if program.ended and (program.ended.answered != "yes" or program.ended.verdict != "yes"):
        st.caption(f"{_SIGN[program.ended.verdict]} {unmarked(verdict(program))}")
    if program.number and len(program.called) > 1:
        _diagram(program, calls, live=live)


def _notes(program: Written) -> dict[int, str]:
    """Beside each line that called something, how often and how long."""
    counts: dict[int, tuple[int, int, int]] = {}
    for place, made in program.calls.items():
        line = program.read.line_of(place)
        number, failed, left = counts.get(line, (0, 0, 0))
        failed += sum(call.failed for call in made)
        left += sum(call.not_made for call in made)
        counts[line] = number + len(made), failed, left
    return {line: _note(*of_line, program.times[line].seconds) for line, of_line in counts.items()}


def _note(number: int, failed: int, left: int, seconds: float) -> str:
    told = [say_count("1 call", "{count:,} calls", number)]
    told += [say("{count} failed", count=failed)] if failed else []
    told += [say("{count} not made", count=left)] if left else []
    told += [seconds_told(seconds)] if seconds and left < number else []
    return listing(told)


def _looked(program: Written, calls: CallsView) -> None:
    for number, shown in enumerate(program.looks):
        with folded(
            say("What it looked at"), f"{calls.key}-look-{program.subtask}-{program.number}-{number}"
        ) as opened:
            if opened:
                st.code(clipped(shown), language=None, wrap_lines=True)


def _diagram(program: Written, calls: CallsView, *, live: bool) -> None:
    """Of this text, what feeds what in it. Once it runs no more it is open."""
    told = calls.about.of(program.subtask, program.number) or ProgramCalls(subtask=program.subtask)
    drawn = [_drawn(program, place, line, calls) for place, line, _ in program.called]
    feeds = [DrawnFeed(_key(one.source), _key(one.target)) for one in told.feeds]
    with folded(
        say("Its calls, and what feeds what"),
        f"{calls.key}-graph-{program.subtask}-{program.number}",
        unfolded=not live,
    ) as opened:
        if opened:
            answer = {_key(one) for one in told.answer}
            st.graphviz_chart(call_dot(drawn, feeds, answer), width="content", alt=told_calls(drawn, feeds)[:2_000])  # pyright: ignore[reportUnknownMemberType]


def _drawn(program: Written, place: int, line: int, calls: CallsView) -> DrawnCall:
    made = program.calls.get(place, [])
    tool = next(tool for at, _, tool in program.called if at == place)
    about = calls.about.tool(tool)
    return DrawnCall(
        _key(CallPlace(cell=program.number, place=place)),
        tool,
        line,
        program.state_of(place, calls.waits),
        changes=bool(about and about.changes),
        times=len(made),
        about=say("at {host}", host=about.host) if about and about.host else "",
    )


def _key(place: CallPlace) -> str:
    return f"{place.cell}:{place.place}"


def _sign(program: Written) -> str:
    if program.ended:
        return _SIGN[program.ended.verdict]
    if program.error or not program.number:
        return SIGNS["failed"]
    return SIGNS["done"] if program.looks else SIGNS["running"]


def _name(program: Written, number: int, of: int) -> str:
    if of == 1:
        return say("Program")
    return say("Program, part {number}", number=number) if program.goes_on else say("Program {number}", number=number)
