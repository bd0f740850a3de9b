"""Report of a run's changes, written by code: no policy's answer can omit or invent a change."""

from collections.abc import Iterator, Sequence

from agent.execution.wording import for_people, spoken
from agent.step_notes import fit_to_tell
from agent.text import clean, given_name
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.identifiers import words
from graph.lenient_json import read_value

NOT_DONE = "Not done:"
"""Prefix of a line about a change that was not made."""
_SHOWN = 3
_WHOLE = 800
"""Limit of a note in characters; generous because the advice is at its end."""
_DONE, _LOST = "ok", "unknown"

_MARKS = frozenset({"id", "reference", "confirmation"})

Made = Sequence[tuple[ToolDoc, StepResult]]


def told(steps: Made, called: Made, each: Made = ()) -> Iterator[str]:
    """Yield a line for each change that was made, may have been made, or was not made after all.

    ``steps`` are the steps that the answer numbers, from 1. ``calls`` are all calls of the run, including those of abandoned paths.
    ``program_calls`` were each intended individually: a successful call of the same tool does not make up for one that failed, and
    a call that was made twice is reported as two.
    """
    place = {_key(result): number for number, (_, result) in enumerate(steps, start=1)}
    latest = _latest((*called, *steps))
    done = {result.tool for _, result in latest.values() if result.status == _DONE}
    meant = {_key(result): 0 for _, result in each}
    for _, result in each:
        meant[_key(result)] += result.status == _DONE
    said: set[str] = set()
    for key, (tool, result) in latest.items():
        # A failed attempt of a path is not worth a line once another call of the same tool succeeded.
        if result.status not in (_DONE, _LOST) and result.tool in done and key not in meant:
            continue
        times = f" ({meant[key]} times)" if meant.get(key, 0) > 1 and result.status == _DONE else ""
        line = f"{_line(tool, result)}{times}"
        if line not in said:
            said.add(line)
            yield f"{line} [{place[key]}]\n" if key in place and result.status in (_DONE, _LOST) else f"{line}\n"


def _latest(made: Made) -> dict[tuple[str, str], tuple[ToolDoc, StepResult]]:
    """Return the latest result of each changing call. A success is kept if the same call was refused or failed later."""
    latest: dict[tuple[str, str], tuple[ToolDoc, StepResult]] = {}
    for tool, result in made:
        before = latest.get(_key(result))
        if not tool.safe and (result.status in (_DONE, _LOST) or before is None or before[1].status != _DONE):
            latest[_key(result)] = tool, result
    return latest


def _line(tool: ToolDoc, result: StepResult) -> str:
    called, values = clean(spoken(given_name(tool)), 80), ", ".join(_values(tool, result))
    what = " ".join(one for one in (called, values, *_corrected(result)) if one)
    note = clean(fit_to_tell(result.note), _WHOLE)
    match result.status:
        case "ok":
            return f"Done: {' '.join((what, *_given(result)))}"
        case "unknown":
            return f"Whether {what} took effect is unknown: {note}"
        case "missing":
            return f"{NOT_DONE} {called}. {note}"
        case _:
            return f"{NOT_DONE} {what}. {note or result.status}"


def _values(tool: ToolDoc, result: StepResult) -> list[str]:
    """Return the first few scalar arguments of a call for display, required ones first."""
    names = [parameter.name for parameter in sorted(tool.parameters, key=lambda parameter: not parameter.required)]
    given = [result.arguments[name] for name in names if name in result.arguments]
    plain = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in given]
    return [clean(str(one), 60) for one in plain if isinstance(one, (str, int, float))][:_SHOWN]


def _corrected(result: StepResult) -> list[str]:
    """Describe values that the user corrected.

    A program does not see the correction, so its answer may contradict it.
    """
    before, names = result.wanted, dict.fromkeys((*result.arguments, *result.wanted))
    changed = [name for name in names if result.arguments.get(name) != before.get(name)]
    told = [
        f"{spoken(name)} {_or_nothing(result.arguments, name)} instead of {_or_nothing(before, name)}"
        for name in changed
    ]
    return [f"({', '.join(told)}, as you corrected it)"] if told else []


def _or_nothing(arguments: JsonObject, name: str) -> str:
    return for_people(arguments[name]) if name in arguments else "nothing"


def _given(result: StepResult) -> list[str]:
    """Return up to two identifiers from the response that the call did not send.

    They are how the changed thing is known from now on.
    """
    value = read_value(result.response)
    sent = {str(argument) for argument in result.arguments.values()}
    told = value.items() if isinstance(value, dict) else ()
    new = [(name, str(given)) for name, given in told if isinstance(given, (str, int)) and not isinstance(given, bool)]
    marks = [(name, given) for name, given in new if _MARKS & set(words(name)) and given and given not in sent]
    return [f"({clean(name.replace('_', ' '), 40)}: {clean(given, 60)})" for name, given in marks[:2]]


def _key(result: StepResult) -> tuple[str, str]:
    return result.tool, repr(sorted(result.arguments.items()))
