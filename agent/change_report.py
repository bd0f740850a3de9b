"""Lines about a run's changes, written by code so that no policy can omit or invent one."""

from collections.abc import Iterator, Sequence

from agent.execution.wording import format_for_people, split_identifier
from agent.step_notes import strip_internal_notes
from agent.text import clean, short_tool_name
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.identifiers import split_words
from graph.lenient_json import read_value

NOT_DONE = "Not done:"
"""Prefix of a line about a change that was not made."""
_MAX_VALUES = 3
"""Limit of argument values in a line."""
_MAX_NOTE_CHARS = 800
"""Limit of a note in characters; generous because the advice is at its end."""
_OK, _UNKNOWN = "ok", "unknown"

_ID_WORDS = frozenset({"id", "reference", "confirmation"})
"""Words in the name of a response field that holds an identifier."""

ExecutedCalls = Sequence[tuple[ToolDoc, StepResult]]
"""Results of calls, each with the document of its tool."""


def format_changes(steps: ExecutedCalls, calls: ExecutedCalls, program_calls: ExecutedCalls = ()) -> Iterator[str]:
    """Yield a line for each change that was made, may have been made, or was not made after all.

    Args:
        steps: the steps that the answer numbers, from 1.
        calls: all calls of the run, including those of abandoned paths.
        program_calls: calls of programs. Each was intended individually: a successful call of the same tool does not
            make up for a failed one, and a call that was made twice is reported as two.
    """
    step_numbers = {_build_key(result): number for number, (_, result) in enumerate(steps, start=1)}
    latest = _select_latest((*calls, *steps))
    done = {result.tool for _, result in latest.values() if result.status == _OK}
    times_done = {_build_key(result): 0 for _, result in program_calls}
    for _, result in program_calls:
        times_done[_build_key(result)] += result.status == _OK
    emitted: set[str] = set()
    for key, (tool, result) in latest.items():
        # A failed attempt of a path is not worth a line once another call of the same tool succeeded.
        if result.status not in (_OK, _UNKNOWN) and result.tool in done and key not in times_done:
            continue
        times = f" ({times_done[key]} times)" if times_done.get(key, 0) > 1 and result.status == _OK else ""
        line = f"{_format_line(tool, result)}{times}"
        if line not in emitted:
            emitted.add(line)
            yield (
                f"{line} [{step_numbers[key]}]\n"
                if key in step_numbers and result.status in (_OK, _UNKNOWN)
                else f"{line}\n"
            )


def _select_latest(calls: ExecutedCalls) -> dict[tuple[str, str], tuple[ToolDoc, StepResult]]:
    """Return the latest result of each changing call; a success is kept even if the same call failed later."""
    latest: dict[tuple[str, str], tuple[ToolDoc, StepResult]] = {}
    for tool, result in calls:
        before = latest.get(_build_key(result))
        if not tool.safe and (result.status in (_OK, _UNKNOWN) or before is None or before[1].status != _OK):
            latest[_build_key(result)] = tool, result
    return latest


def _format_line(tool: ToolDoc, result: StepResult) -> str:
    """Return the line about one change, without its step number."""
    tool_name, values = clean(split_identifier(short_tool_name(tool)), 80), ", ".join(_format_values(tool, result))
    what = " ".join(one for one in (tool_name, values, *_describe_corrections(result)) if one)
    note = clean(strip_internal_notes(result.note), _MAX_NOTE_CHARS)
    match result.status:
        case "ok":
            return f"Done: {' '.join((what, *_find_new_ids(result)))}"
        case "unknown":
            return f"Whether {what} took effect is unknown: {note}"
        case "missing":
            return f"{NOT_DONE} {tool_name}. {note}"
        case _:
            return f"{NOT_DONE} {what}. {note or result.status}"


def _format_values(tool: ToolDoc, result: StepResult) -> list[str]:
    """Return the first few scalar arguments of a call for display, required ones first."""
    names = [parameter.name for parameter in sorted(tool.parameters, key=lambda parameter: not parameter.required)]
    arguments = [result.arguments[name] for name in names if name in result.arguments]
    plain = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in arguments]
    return [clean(str(one), 60) for one in plain if isinstance(one, (str, int, float))][:_MAX_VALUES]


def _describe_corrections(result: StepResult) -> list[str]:
    """Describe values that the user corrected.

    A program does not see the correction, so its answer may contradict it.
    """
    before, names = result.requested_arguments, dict.fromkeys((*result.arguments, *result.requested_arguments))
    changed = [name for name in names if result.arguments.get(name) != before.get(name)]
    corrections = [
        f"{split_identifier(name)} {_format_value_or_nothing(result.arguments, name)} instead of {_format_value_or_nothing(before, name)}"
        for name in changed
    ]
    return [f"({', '.join(corrections)}, as you corrected it)"] if corrections else []


def _format_value_or_nothing(arguments: JsonObject, name: str) -> str:
    return format_for_people(arguments[name]) if name in arguments else "nothing"


def _find_new_ids(result: StepResult) -> list[str]:
    """Return up to two identifiers from the response that the call did not send.

    They are how the changed thing is known from now on.
    """
    value = read_value(result.response)
    sent = {str(argument) for argument in result.arguments.values()}
    fields = value.items() if isinstance(value, dict) else ()
    new = [
        (name, str(value_text))
        for name, value_text in fields
        if isinstance(value_text, (str, int)) and not isinstance(value_text, bool)
    ]
    new_ids = [
        (name, value_text)
        for name, value_text in new
        if _ID_WORDS & set(split_words(name)) and value_text and value_text not in sent
    ]
    return [f"({clean(name.replace('_', ' '), 40)}: {clean(value_text, 60)})" for name, value_text in new_ids[:2]]


def _build_key(result: StepResult) -> tuple[str, str]:
    """Return a key that is equal for calls of one tool with equal arguments."""
    return result.tool, repr(sorted(result.arguments.items()))
