"""A streamed answer as it is shown: without thoughts aloud, without what would command a terminal."""

import unicodedata
from dataclasses import dataclass

from domain.errors import InvalidDecisionError

LONGEST = 16_000
"""Characters of an answer; what a model says beyond them is not shown."""
_LONGEST_THOUGHT = 200_000

_OPENINGS = ("<think>", "<thinking>")
_CLOSINGS = ("</think>", "</thinking>")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


@dataclass(slots=True)
class Spoken:
    """``text``: what was shown so far. Models that think aloud do so at the beginning, between tags."""

    text: str = ""
    _held: str = ""
    _begun: bool = False

    def add(self, piece: str) -> str:
        """What to show of a piece; empty while it is not known yet whether it is a thought, and beyond ``LONGEST``.

        Raises:
            InvalidDecisionError: the thoughts have no end.
        """
        if self._begun:
            return self._show(piece)
        if len(self._held) + len(piece) > _LONGEST_THOUGHT:
            raise InvalidDecisionError("the model thinks aloud without end")
        self._held = (self._held + piece).lstrip()
        if any(opening.startswith(self._held[: len(opening)]) for opening in _OPENINGS):
            closing = next((tag for tag in _CLOSINGS if tag in self._held), "")
            if not closing:
                return ""
            self._held = self._held.partition(closing)[2].lstrip()
        if not self._held:
            return ""
        self._begun = True
        return self._show(self._held)

    def end(self, *, cut: bool) -> str:
        """What is to be added at the end. ``InvalidDecisionError`` where nothing but thoughts was said."""
        if not self.text.strip():
            raise InvalidDecisionError("the model said nothing besides its thoughts")
        note = " … (cut off: the model reached FOOTPATH_MODEL_MAX_TOKENS)" if cut else ""
        note = f" … (cut off after {LONGEST:,} characters)" if self.full else note
        return f"{note}\n" if note or not self.text.endswith("\n") else ""

    @property
    def full(self) -> bool:
        """Whether no more is shown."""
        return len(self.text) >= LONGEST

    def _show(self, piece: str) -> str:
        piece = piece[: LONGEST - len(self.text)]
        shown = "".join(c for c in piece if c in "\n\t" or unicodedata.category(c) not in _DROPPED)
        self.text += shown
        return shown
