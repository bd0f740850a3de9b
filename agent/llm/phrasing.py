"""The wording of an answer that a program computed: the words are the model's, the values stay the program's."""

import re

from agent.llm.answer_stream import LONGEST, Spoken
from agent.llm.client.chat import Reply
from agent.llm.prompts import Fence
from agent.llm.rendering import request_text
from domain.errors import InvalidDecisionError

_Reading = float | tuple[float, ...]
"""A number, or the parts of a time, a day or a version."""
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_GAP = re.compile(r"(?<=\d)[\u00a0\u202f'\u2019](?=\d{3}(?!\d))")
"""A separator of thousands other than a point or a comma."""
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
_COMMAS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")


def phrase_text(request: str, answer: str, fence: Fence) -> tuple[str, ...]:
    """Render the request and the computed answer."""
    return (request_text(request, fence), fence.block("answer", answer), "In words?")


def phrased(reply: Reply, request: str, answer: str) -> str:
    """Return the model's words without its thoughts, or the computed answer.

    The computed answer is returned if the words are cut off, empty, or hold other figures.
    """
    spoken = Spoken()
    try:
        words = spoken.add(reply.text).strip()
    except InvalidDecisionError:
        return answer
    if reply.cut or not words or len(words) >= LONGEST:
        return answer
    return words if _same_figures(words, answer, request) else answer


def _same_figures(words: str, answer: str, request: str) -> bool:
    """Check that the words hold all figures of the answer, and no others than these and the request's.

    A day may be written with the name of its month, so its day and year as numbers are enough.
    """
    days, figures = _figures(answer)
    said_days, said_figures = _figures(words)
    said = {reading for figure in said_figures for reading in _readings(figure)}
    written = {(y, m, d): {(y, m, d), (d, m, y), (m, d, y)} for y, m, d in days}
    told_days = all(
        day in said_days or said & ways or {float(day[0]), float(day[2])} <= said for day, ways in written.items()
    )
    if not told_days or not all(_exact(figure) in said for figure in figures):
        return False
    asked_days, asked = _figures(request)
    known: set[_Reading] = {_exact(figure) for figure in figures} | {r for one in asked for r in _readings(one)}
    known |= {float(part) for day in (*days, *asked_days) for part in day}
    known |= {way for ways in written.values() for way in ways}
    return said_days <= days | asked_days and all(known & _readings(figure) for figure in said_figures)


def _figures(text: str) -> tuple[set[tuple[int, ...]], list[str]]:
    """Find the days in a text as (year, month, day), and all other figures."""
    days = {(int(y), int(m), int(d)) for y, m, d in _DAY.findall(text)}
    return days, _FIGURE.findall(_GAP.sub("", _DAY.sub(" ", text)))


def _exact(figure: str) -> _Reading:
    """Read a figure as programs write it: a point before decimals, commas between thousands."""
    if _COMMAS.fullmatch(figure):
        return float(figure.replace(",", ""))
    return float(figure.replace(",", ".")) if _DECIMAL.fullmatch(figure) else _parts(figure)


def _readings(figure: str) -> set[_Reading]:
    """Return every possible reading of a figure, as languages separate thousands and decimals differently."""
    found = {_exact(figure)}
    if _DECIMAL.fullmatch(figure):
        found.add(float(figure.replace(",", ".")))
    if _POINTS.fullmatch(figure):
        found.add(float(figure.replace(".", "").replace(",", ".")))
    return found


def _parts(figure: str) -> tuple[float, ...]:
    """Split a figure into its numbers; a time loses its zero seconds."""
    return tuple(float(part) for part in re.split(r"\D", re.sub(r"^(\d+:\d+):00$", r"\1", figure)))
