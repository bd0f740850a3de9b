"""Filter of a streamed answer that drops the model's thoughts, and characters that would command a terminal."""

import unicodedata
from dataclasses import dataclass

from domain.errors import InvalidDecisionError

LONGEST = 16_000
"""Characters of an answer; what a model writes beyond them is not shown."""
_LONGEST_THOUGHT = 200_000
"""Characters of thoughts after which an answer is given up."""

_OPENINGS = ("<think>", "<thinking>")
_CLOSINGS = ("</think>", "</thinking>")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


@dataclass(slots=True)
class Spoken:
    """The shown part of a streamed answer. Models that think aloud do so at the beginning, between tags."""

    text: str = ""
    """The text shown so far."""
    _held: str = ""
    _begun: bool = False

    def add(self, piece: str) -> str:
        """Return the part of a piece to show.

        Nothing is shown while the piece may still be a thought, and beyond ``LONGEST`` characters.

        Raises:
            InvalidDecisionError: the thoughts have no end.
        """
        if self._begun:
            return self._show(piece)
        if len(self._held) + len(piece) > _LONGEST_THOUGHT:
            raise InvalidDecisionError("the model thinks aloud without end")
        self._held = (self._held + piece).lstrip()
        # A prefix of an opening tag is held back as well: a tag may be split over several pieces.
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
        """Return the text to append at the end: a note if the answer was cut, and a final newline.

        Raises:
            InvalidDecisionError: the model wrote nothing but thoughts.
        """
        if not self.text.strip():
            raise InvalidDecisionError("the model said nothing besides its thoughts")
        note = " … (cut off: the model reached FOOTPATH_MODEL_MAX_TOKENS)" if cut else ""
        note = f" … (cut off after {LONGEST:,} characters)" if self.full else note
        return f"{note}\n" if note or not self.text.endswith("\n") else ""

    @property
    def full(self) -> bool:
        """True if no more is shown."""
        return len(self.text) >= LONGEST

    def _show(self, piece: str) -> str:
        piece = piece[: LONGEST - len(self.text)]
        shown = "".join(c for c in piece if c in "\n\t" or unicodedata.category(c) not in _DROPPED)
        self.text += shown
        return shown
