"""Compose the offline answer: what the responses say about the request, the calls they come from, and what is open."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.execution.error_bodies import is_empty_response
from agent.failure_message import strip_internal_notes
from agent.policy.protocol import Results
from agent.text import clean_text, format_tool_title
from domain.plan import StepResult
from offline.nlp.asked_words import find_asked_words
from offline.response_summary import ResponseSummary, summarize_response

_MAX_CHARACTERS = 1_500
"""Characters of an answer, besides the line that names its calls."""


def compose(request: str, steps: Results, unanswered: Sequence[str] = ()) -> Iterator[str]:
    """Yield the answer in pieces of one line each.

    Numbers in brackets are the steps, counted from 1 and named in the last line. Steps that no later step builds on
    come first; of the others only what the request asks about is shown. Every value is a field of a response, with text
    from tools made harmless; nothing is added.

    Args:
        request: the request.
        steps: the calls with their results.
        unanswered: parts of the request that no step serves.
    """
    yield from _truncate(_compose_all(request, steps, unanswered))


def _truncate(pieces: Iterator[str]) -> Iterator[str]:
    """Yield pieces up to a readable length, and always the last one, which names the calls."""
    length, last = 0, ""
    # One piece is held back, since only at the end it is known which one is the last.
    for piece in pieces:
        if last and length + len(last) <= _MAX_CHARACTERS:
            length += len(last)
            yield last
        elif last and length <= _MAX_CHARACTERS:
            length = _MAX_CHARACTERS + 1
            yield "…\n"
        last = piece
    yield last


def _compose_all(request: str, steps: Results, unanswered: Sequence[str]) -> Iterator[str]:
    """Yield all pieces: final steps, what intermediate steps say of the request, open parts, and the calls."""
    asked_names = find_asked_words(request)
    used = _find_used_steps(steps)
    successful = [number for number, (_, result) in enumerate(steps, start=1) if result.status == "ok"]
    final_steps = [n for n in successful if n not in used]
    for number in final_steps:
        tool, result = steps[number - 1]
        if not tool.safe and (not result.response.strip() or is_empty_response(result.response)):
            continue
        yield from _render_lines(number, summarize_response(result.response, asked_names))
    intermediate_steps = [n for n in successful if n in used]
    for number in intermediate_steps:
        tool, result = steps[number - 1]
        summary = summarize_response(result.response, asked_names, used[number])
        if summary.matched and not is_empty_response(steps[number - 1][1].response):
            yield from _render_lines(number, replace(summary, lines=summary.lines[:1]))
    yield from _render_open(steps, unanswered)
    if successful:
        yield f"Based on: {', '.join(f'[{n}] {format_tool_title(steps[n - 1][0])}{_render_note(steps[n - 1][1])}' for n in successful)}\n"


def _find_used_steps(steps: Results) -> dict[int, str]:
    """Return the place of the value that a later successful step took, by the number of the step it came from."""
    used: dict[int, str] = {}
    for _, result in steps:
        for binding in result.provenance:
            number, _, place = binding.reference.partition(".")
            if binding.origin == "step" and result.status == "ok" and number.isdigit():
                used.setdefault(int(number), place)
    return used


def _render_lines(number: int, summary: ResponseSummary) -> Iterator[str]:
    """Yield the lines of one step's summary with the step's number."""
    if len(summary.lines) == 1:
        yield f"{summary.lines[0]} [{number}]\n"
    elif summary.lines:
        for line in summary.lines:
            yield f"- {line} [{number}]\n"
    for sentence in summary.empty_list_notes:
        yield f"{sentence} [{number}]\n"
    if not summary.lines and not summary.empty_list_notes:
        yield f"The response was empty. [{number}]\n"


def _render_open(steps: Results, unanswered: Sequence[str]) -> Iterator[str]:
    """Yield a line for each call and part that gave no answer, with the reason if it is known."""
    lines: list[str] = []
    for tool, result in steps:
        if not tool.safe:
            continue  # the run itself tells of those
        note = clean_text(strip_internal_notes(result.note))
        if result.status == "unknown":
            lines.append(f"Whether {format_tool_title(tool)} took effect is unknown: {note}\n")
        elif result.status != "ok":
            lines.append(f"{format_tool_title(tool)} gave no answer: {note or result.status}\n")
    yield from dict.fromkeys(lines)
    for part in unanswered:
        yield f'Not answered: "{clean_text(part)}"\n'


def _render_note(result: StepResult) -> str:
    note = clean_text(strip_internal_notes(result.note), 120)
    return f" ({note})" if note else ""
