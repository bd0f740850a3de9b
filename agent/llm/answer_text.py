"""Texts of answers: a stream without the model's thoughts, and the wording of an answer computed by a program."""

import re
import unicodedata
from dataclasses import dataclass

from agent.llm.client.chat import ModelReply
from agent.llm.prompts import PromptFence
from agent.llm.rendering import render_request
from domain.errors import InvalidDecisionError

MAX_ANSWER_CHARS = 16_000
"""Characters of an answer; what a model writes beyond them is not shown."""
_MAX_THOUGHT_CHARS = 200_000
"""Characters of thoughts after which an answer is given up."""

_OPENINGS = ("<think>", "<thinking>")
_CLOSINGS = ("</think>", "</thinking>")
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of control, format, surrogate, private and unassigned characters."""


@dataclass(slots=True)
class ShownAnswer:
    """The shown part of a streamed answer. Models that think aloud do so at the beginning, between tags."""

    text: str = ""
    """The text shown so far."""
    _buffer: str = ""
    """Text held back while it may be a thought."""
    _has_begun: bool = False
    """True once the answer itself has begun."""

    def add(self, piece: str) -> str:
        """Return the part of a piece to show.

        Nothing is shown while the piece may still be a thought, and beyond ``MAX_ANSWER_CHARS`` characters.

        Raises:
            InvalidDecisionError: the thoughts have no end.
        """
        if self._has_begun:
            return self._append(piece)
        if len(self._buffer) + len(piece) > _MAX_THOUGHT_CHARS:
            raise InvalidDecisionError("the model thinks aloud without end")
        self._buffer = (self._buffer + piece).lstrip()
        # A prefix of an opening tag is held back as well: a tag may be split over several pieces.
        if any(opening.startswith(self._buffer[: len(opening)]) for opening in _OPENINGS):
            closing = next((tag for tag in _CLOSINGS if tag in self._buffer), "")
            if not closing:
                return ""
            self._buffer = self._buffer.partition(closing)[2].lstrip()
        if not self._buffer:
            return ""
        self._has_begun = True
        return self._append(self._buffer)

    def finish(self, *, cut: bool) -> str:
        """Return the text to append at the end: a note if the answer was cut, and a final newline.

        Raises:
            InvalidDecisionError: the model wrote nothing but thoughts.
        """
        if not self.text.strip():
            raise InvalidDecisionError("the model said nothing besides its thoughts")
        note = " … (cut off: the model reached FOOTPATH_MODEL_MAX_TOKENS)" if cut else ""
        note = f" … (cut off after {MAX_ANSWER_CHARS:,} characters)" if self.is_full else note
        return f"{note}\n" if note or not self.text.endswith("\n") else ""

    @property
    def is_full(self) -> bool:
        """True if no more is shown."""
        return len(self.text) >= MAX_ANSWER_CHARS

    def _append(self, piece: str) -> str:
        piece = piece[: MAX_ANSWER_CHARS - len(self.text)]
        visible = "".join(
            character
            for character in piece
            if character in "\n\t" or unicodedata.category(character) not in _DROPPED_CATEGORIES
        )
        self.text += visible
        return visible


_Reading = float | tuple[float, ...]
"""A number, or the parts of a time, a day or a version."""
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
"""A number, time or version, with its separators."""
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_GAP = re.compile(r"(?<=\d)[\u00a0\u202f'\u2019](?=\d{3}(?!\d))")
"""A separator of thousands other than a point or a comma."""
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
"""A number without separators of thousands."""
_COMMAS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
"""A number with thousands separated as in English: ``1,234.5``."""
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
"""A number with thousands separated as in German: ``1.234,5``."""


def render_phrase_prompt(request: str, answer: str, fence: PromptFence) -> tuple[str, ...]:
    """Render the request and the computed answer."""
    return (render_request(request, fence), fence.render_block("answer", answer), "In words?")


def select_wording(reply: ModelReply, request: str, answer: str) -> str:
    """Return the model's words without its thoughts, or the computed answer.

    The computed answer is returned if the words are cut off, empty, or hold other figures.
    """
    shown_answer = ShownAnswer()
    try:
        words = shown_answer.add(reply.text).strip()
    except InvalidDecisionError:
        return answer
    if reply.cut or not words or len(words) >= MAX_ANSWER_CHARS:
        return answer
    return words if _has_same_figures(words, answer, request) else answer


def _has_same_figures(words: str, answer: str, request: str) -> bool:
    """Check that the words hold all figures of the answer, and no others than these and the request's.

    A day may be written with the name of its month, so its day and year as numbers are enough.
    """
    days, figures = _find_figures(answer)
    worded_days, worded_figures = _find_figures(words)
    worded_readings = {reading for figure in worded_figures for reading in _find_readings(figure)}
    day_orders = {(y, m, d): {(y, m, d), (d, m, y), (m, d, y)} for y, m, d in days}
    has_all_days = all(
        day in worded_days or worded_readings & ways or {float(day[0]), float(day[2])} <= worded_readings
        for day, ways in day_orders.items()
    )
    if not has_all_days or not all(_read_exact(figure) in worded_readings for figure in figures):
        return False
    request_days, request_figures = _find_figures(request)
    allowed: set[_Reading] = {_read_exact(figure) for figure in figures} | {
        r for figure in request_figures for r in _find_readings(figure)
    }
    allowed |= {float(part) for day in (*days, *request_days) for part in day}
    allowed |= {way for ways in day_orders.values() for way in ways}
    return worded_days <= days | request_days and all(allowed & _find_readings(figure) for figure in worded_figures)


def _find_figures(text: str) -> tuple[set[tuple[int, ...]], list[str]]:
    """Find the days in a text as (year, month, day), and all other figures."""
    days = {(int(y), int(m), int(d)) for y, m, d in _DAY.findall(text)}
    return days, _FIGURE.findall(_GAP.sub("", _DAY.sub(" ", text)))


def _read_exact(figure: str) -> _Reading:
    """Read a figure as programs write it: a point before decimals, commas between thousands."""
    if _COMMAS.fullmatch(figure):
        return float(figure.replace(",", ""))
    return float(figure.replace(",", ".")) if _DECIMAL.fullmatch(figure) else _split_parts(figure)


def _find_readings(figure: str) -> set[_Reading]:
    """Return every possible reading of a figure, as languages separate thousands and decimals differently."""
    readings = {_read_exact(figure)}
    if _DECIMAL.fullmatch(figure):
        readings.add(float(figure.replace(",", ".")))
    if _POINTS.fullmatch(figure):
        readings.add(float(figure.replace(".", "").replace(",", ".")))
    return readings


def _split_parts(figure: str) -> tuple[float, ...]:
    """Split a figure into its numbers; a time loses its zero seconds."""
    return tuple(float(part) for part in re.split(r"\D", re.sub(r"^(\d+:\d+):00$", r"\1", figure)))
