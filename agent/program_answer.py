"""Answer of a program: its words, what is missing, and the calls that it is based on."""

from collections.abc import Iterable

from agent.text import clean, format_tool_title
from domain.event import ProgramEnded
from domain.tool import ToolDoc

_MAX_NUMBERS = 4
"""Limit of listed calls of one tool; if there are more, only the first and the last are listed."""


def format_answer(end: ProgramEnded) -> str:
    """Return the answer of a program that ended, with what it lacks if it is incomplete."""
    answer = end.answer.strip()
    lacking = _to_sentence(end.missing) or _to_sentence(end.veto)
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


def _to_sentence(text: str) -> str:
    sentence = clean(text, 600).rstrip(".")
    return f"{sentence}." if sentence else ""


def format_sources(calls: Iterable[tuple[int, ToolDoc]]) -> str:
    """Return a line with the calls that an answer is based on, grouped by tool."""
    numbers: dict[str, list[int]] = {}
    for number, tool in calls:
        numbers.setdefault(format_tool_title(tool), []).append(number)
    sources = [f"{_format_numbers(which)} {tool}" for tool, which in numbers.items()]
    return f"Based on: {', '.join(sources)}\n" if sources else ""


def _format_numbers(numbers: list[int]) -> str:
    if len(numbers) <= _MAX_NUMBERS:
        return " ".join(f"[{number}]" for number in numbers)
    return f"[{numbers[0]}] … [{numbers[-1]}]"
