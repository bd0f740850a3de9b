"""Calls on the page: what each was given, where it went, what came back; many calls of one place of a program as one."""

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from ui.calls import ORIGINS, SAID, STATUSES, Call
from ui.language import listing, say
from ui.program_state import Waits
from ui.run_calls import RunCalls
from ui.run_summary import seconds_told
from ui.texts import clipped, for_page, readable, response_text, unmarked
from ui.walk_graph import tool_name

_MARKS = {"ok": "✓", "failed": "✗", "missing": "?", "skipped": "–", "unknown": "?"}
_FIRST = 5
"""Of the calls of one place, the first so many are shown, and of those that failed; all of them on request."""
_STEPS = 30
"""Of calls that stand for themselves, so many."""
_ALL = 300
_ARGUMENTS = 60
_WHY = 100


@dataclass(frozen=True)
class CallsView:
    """How the calls of one run are drawn. ``key``: begins the keys of what is folded; ``about``: what is known of the tools."""

    key: str
    waits: Waits
    about: RunCalls

    def each(self, calls: Sequence[Call]) -> None:
        """One below the other in one count, folded; of very many the last ones, all on request. Where a step was called several times, the call that
        an answer names by its step says so.
        """
        all_key = f"{self.key}-steps-all"
        shown = calls[-_ALL:] if st.session_state.get(all_key) else calls[-_STEPS:]
        if len(shown) < len(calls) and all_key not in st.session_state:
            said = say("Show the last {shown} of {count} calls", shown=min(len(calls), _ALL), count=len(calls))
            st.button(said, key=f"{all_key}-button", type="tertiary", on_click=lambda: _keep(all_key))
        sources = {call.step: call for call in calls if call.result and call.result.status == "ok"}
        for call in shown:
            told = [self._told(call)]
            if call.step != call.number and sources.get(call.step) is call:
                told.append(unmarked(say("[{step}] in the answer", step=call.step)))
            self._folded(call, f"{_mark(call)} {call.number}. {unmarked(tool_name(call.tool))} ({listing(told)})")

    def place(self, calls: Sequence[Call], line: int, place: str, seconds: float) -> None:
        """The calls of one place of a program, which is on that line: of a loop all in one. ``seconds``: how long the line's were under way."""
        where = say("line {line}: ", line=line) if line else ""
        name = unmarked(tool_name(calls[0].tool))
        if len(calls) == 1:
            self._folded(calls[0], f"{_mark(calls[0])} {where}{name} ({self._told(calls[0])})")
            return
        told = Counter(_status(call) or self._open(call) for call in calls)
        became = listing([say("{count} {status}", count=count, status=status) for status, count in told.items()])
        mark = _mark_of(calls)
        title = f"{mark} {where}{name} ×{len(calls)} ({became}; {seconds_told(seconds)})"
        with folded(title, f"{self.key}-{place}") as opened:
            if opened:
                self._several(calls, place)

    def _several(self, calls: Sequence[Call], place: str) -> None:
        all_key = f"{self.key}-{place}-all"
        some = [call for number, call in enumerate(calls) if number < _FIRST]
        some += [call for call in calls[_FIRST:] if call.failed or call.not_made][:_FIRST]
        shown = calls[:_ALL] if st.session_state.get(all_key) else some
        for call in shown:
            given = clipped_line(", ".join(f"{name}={value}" for name, value in call.arguments.items()))
            self._folded(call, f"{_mark(call)} {call.step}. {unmarked(given)} ({self._told(call)})")
        if len(shown) < len(calls) and all_key not in st.session_state:
            said = (
                say("Show all {count} calls", count=len(calls))
                if len(calls) <= _ALL
                else say("Show the first {shown} of {count} calls", shown=_ALL, count=len(calls))
            )
            st.button(said, key=f"{all_key}-button", type="tertiary", on_click=lambda: _keep(all_key))

    def _folded(self, call: Call, title: str) -> None:
        with folded(title, f"{self.key}-call-{call.number}") as opened:
            if opened:
                self._whole(call)

    def _whole(self, call: Call) -> None:
        st.caption(unmarked(self._where(call)))
        st.text(say("Arguments"))
        st.code(readable(call.arguments), language="json", wrap_lines=True)
        if call.result and call.result.arguments != call.arguments:
            st.text(say("It was made with these instead"))
            st.code(readable(call.result.arguments), language="json", wrap_lines=True)
        origins = [
            say(
                "{parameter}: from {origin} {reference}",
                parameter=one.parameter,
                origin=say(ORIGINS.get(one.origin, one.origin)),
                reference=one.reference,
            ).rstrip()
            for one in call.provenance
        ]
        if origins:
            st.code(clipped("\n".join(origins)), language=None, wrap_lines=True)
        if not (result := call.result):
            return
        if result.note:
            st.text(clipped(for_page(say(result.note))))
        st.text(
            say("Answer, {count:,} characters", count=len(result.response)) if result.response else say("No answer")
        )
        if result.response:
            st.code(response_text(result.response), language="json", wrap_lines=True)
        if result.compressed:
            st.text(clipped_line(_shorter(call, len(result.compressed)), 400))
            st.code(clipped(result.compressed), language=None, wrap_lines=True)

    def _where(self, call: Call) -> str:
        """Which tool, where it is, what it does."""
        parts = [tool_name(call.tool)]
        if about := self.about.tool(call.tool):
            parts.append(say("at {host}", host=about.host) if about.host else "")
            made = call.result is not None and call.result.status == "ok"
            changing = say("changed something") if made else say("may change something")
            parts.append(f"{changing} ({say(about.why)})" if about.changes else say("only reads"))
        if call.result and call.result.attempts > 1:
            parts.append(say("tried {attempts} times", attempts=call.result.attempts))
        return " · ".join(part for part in parts if part)

    def _told(self, call: Call) -> str:
        if not (result := call.result):
            return self._open(call)
        if call.unanswered:
            return say(call.unanswered)
        if call.not_made:
            return _status(call)
        if call.not_called:
            why = clipped_line(for_page(say(result.note)), _WHY).rstrip(".") or say("a value is missing")
            return unmarked(say("not called: {why}", why=why))
        if result.outcome is not None and not result.attempts:  # an earlier call answered it
            return _status(call)
        code = f" {result.http_status}" if result.http_status else ""
        return listing([f"{say(STATUSES[result.status])}{code}", seconds_told(result.seconds)])

    def _open(self, call: Call) -> str:
        """What is told of a call without a result."""
        return say("asked about") if self.waits(call) else say("under way")


def _shorter(call: Call, characters: int) -> str:
    """How a model was shown its answer."""
    if call.compressed and (fields := call.compressed.fields[:20]):
        return say(
            "As a model was shown it, {count:,} characters, of these fields: {fields}",
            count=characters,
            fields=listing(list(fields)),
        )
    return say("As a model was shown it, {count:,} characters", count=characters)


@contextmanager
def folded(title: str, key: str, *, unfolded: bool = False) -> Generator[bool]:
    """Something folded, whose content is made only while it is open: the block is told whether it is."""
    expander = st.expander(title, expanded=unfolded, key=key, on_change="rerun")
    with expander:
        yield bool(expander.open)


def _keep(key: str) -> None:
    st.session_state[key] = True


def clipped_line(text: str, most: int = _ARGUMENTS) -> str:
    """One line of it."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _status(call: Call) -> str:
    """How it ended, in a word or two; empty while it is under way."""
    if call.result is None:
        return ""
    if call.unanswered:
        return say(call.unanswered)
    return say(SAID["not_made"] if call.not_made else STATUSES["missing" if call.not_called else call.result.status])


def _mark_of(calls: Sequence[Call]) -> str:
    """Of several: the worst of them; what was not made is no fault of those that were."""
    if any(call.result is None for call in calls):
        return "…"
    if any(call.failed for call in calls):
        return _MARKS["failed"]
    return _MARKS["skipped" if all(call.not_made for call in calls) else "ok"]


def _mark(call: Call) -> str:
    return _MARKS[call.result.status] if call.result else "…"
