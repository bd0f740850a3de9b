"""Texts of answers: a stream without the model's thoughts, and the wording of an answer computed by a program."""

import unicodedata
from dataclasses import dataclass

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
        visible = "".join(c for c in piece if c in "\n\t" or unicodedata.category(c) not in _DROPPED_CATEGORIES)
        self.text += visible
        return visible
