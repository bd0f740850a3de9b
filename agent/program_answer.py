"""What is said of a request that a program served, or could not: its own words, what it lacks, the calls that it rests on."""

from collections.abc import Iterable

from agent.text import clean, title
from domain.event import ProgramEnded
from domain.tool import ToolDoc

_NAMED = 4
"""Calls of one tool that are named by their numbers; of more, the first and the last."""


def said(end: ProgramEnded) -> str:
    """A program's answer, and where that is not all that was asked for, why."""
    answer = end.answer.strip()
    lacking = _sentence(end.missing) or _sentence(end.veto)
    match end.verdict:
        case "yes":
            return f"{answer}\n"
        case "partly":
            return "".join(f"{part}\n" for part in (answer, f"Not all of it is answered: {lacking}") if part)
        case "no" if end.veto or not answer:
            why = lacking or "the program found no answer."
            return f"This could not be answered: {why}\n"
        case "no":
            return f"{answer}\n" if not end.missing or end.missing in answer else f"{answer}\nMissing: {lacking}\n"


def _sentence(text: str) -> str:
    told = clean(text, 600).rstrip(".")
    return f"{told}." if told else ""


def based_on(calls: Iterable[tuple[int, ToolDoc]]) -> str:
    """The calls that an answer rests on, by number and tool; those of one tool together."""
    numbers: dict[str, list[int]] = {}
    for number, tool in calls:
        numbers.setdefault(title(tool), []).append(number)
    named = [f"{_numbered(which)} {tool}" for tool, which in numbers.items()]
    return f"Based on: {', '.join(named)}\n" if named else ""


def _numbered(numbers: list[int]) -> str:
    if len(numbers) <= _NAMED:
        return " ".join(f"[{number}]" for number in numbers)
    return f"[{numbers[0]}] … [{numbers[-1]}]"
