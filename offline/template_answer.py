"""The offline answer: what the responses say about the request, the calls it comes from, and what stays open."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.execution.error_bodies import is_empty
from agent.policy.protocol import Results
from agent.step_notes import fit_to_tell
from agent.text import clean, title
from domain.plan import StepResult
from offline.nlp.asked_words import asked_words
from offline.response_summary import View, view

_MOST_TEXT = 1_500
"""Characters of an answer, besides the line that names its calls."""


def compose(request: str, steps: Results, unanswered: Sequence[str] = ()) -> Iterator[str]:
    """Yield the answer in pieces, a line each.

    Numbers in brackets are the steps, counted from 1, named at the end. Steps that no later step builds on come
    first; of the others only what the request asks about. Every value is a field of a response, with tool text made
    harmless; nothing is added. ``unanswered``: parts of the request that no step serves.
    """
    yield from _within(_all(request, steps, unanswered))


def _within(pieces: Iterator[str]) -> Iterator[str]:
    """Yield the pieces up to a readable length, and always the last one, which names the calls."""
    kept, last = 0, ""
    # One piece is held back, since only at the end it is known which one is the last.
    for piece in pieces:
        if last and kept + len(last) <= _MOST_TEXT:
            kept += len(last)
            yield last
        elif last and kept <= _MOST_TEXT:
            kept = _MOST_TEXT + 1
            yield "…\n"
        last = piece
    yield last


def _all(request: str, steps: Results, unanswered: Sequence[str]) -> Iterator[str]:
    """Yield all pieces: final steps, what intermediate steps say of the request, open parts, and the calls."""
    asked = asked_words(request)
    used = _used(steps)
    good = [number for number, (_, result) in enumerate(steps, start=1) if result.status == "ok"]
    ends = [n for n in good if n not in used]
    for number in ends:
        tool, result = steps[number - 1]
        if not tool.safe and (not result.response.strip() or is_empty(result.response)):
            continue
        yield from _lines(number, view(result.response, asked))
    on_the_way = [n for n in good if n in used]
    for number in on_the_way:
        tool, result = steps[number - 1]
        found = view(result.response, asked, used[number])
        if found.matched and not is_empty(steps[number - 1][1].response):
            yield from _lines(number, replace(found, lines=found.lines[:1]))
    yield from _open(steps, unanswered)
    if good:
        yield f"Based on: {', '.join(f'[{n}] {title(steps[n - 1][0])}{_note(steps[n - 1][1])}' for n in good)}\n"


def _used(steps: Results) -> dict[int, str]:
    """Return the steps whose output a later successful step took, with the place of the value."""
    used: dict[int, str] = {}
    for _, result in steps:
        for binding in result.provenance:
            number, _, place = binding.reference.partition(".")
            if binding.origin == "step" and result.status == "ok" and number.isdigit():
                used.setdefault(int(number), place)
    return used


def _lines(number: int, found: View) -> Iterator[str]:
    """Yield the lines of one step's summary with the step's number."""
    if len(found.lines) == 1:
        yield f"{found.lines[0]} [{number}]\n"
    elif found.lines:
        for line in found.lines:
            yield f"- {line} [{number}]\n"
    for sentence in found.nothing:
        yield f"{sentence} [{number}]\n"
    if not found.lines and not found.nothing:
        yield f"The response was empty. [{number}]\n"


def _open(steps: Results, unanswered: Sequence[str]) -> Iterator[str]:
    """Yield what could not be answered, with the reason as far as it is known."""
    lines: list[str] = []
    for tool, result in steps:
        if not tool.safe:
            continue  # the run itself tells of those
        note = clean(fit_to_tell(result.note))
        if result.status == "unknown":
            lines.append(f"Whether {title(tool)} took effect is unknown: {note}\n")
        elif result.status != "ok":
            lines.append(f"{title(tool)} gave no answer: {note or result.status}\n")
    yield from dict.fromkeys(lines)
    for part in unanswered:
        yield f'Not answered: "{clean(part)}"\n'


def _note(result: StepResult) -> str:
    note = clean(fit_to_tell(result.note), 120)
    return f" ({note})" if note else ""
