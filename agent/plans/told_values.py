"""Where the texts of a program, those that it says to people, name a value: as a word of its own, outside of what an f-string puts in."""

import ast
import re
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

from agent.programs.dependencies import line_starts

Span = tuple[int, int]
"""Of a program's text, in UTF-8 bytes."""

_BEGINS = re.compile(rb"([fF]?)('''|\"\"\"|'|\")")
_SHORTEST = 2
"""Characters of a value that is looked for; digits alone may be anything."""


class Texts:
    """Some texts of a program: f-strings, and plain ones that may become such."""

    def __init__(self, text: str, texts: Sequence[ast.JoinedStr | ast.Constant]) -> None:
        self._source = text.encode()
        starts = line_starts(text)
        self._spans = [
            (starts[one.lineno - 1] + one.col_offset, starts[(one.end_lineno or 1) - 1] + (one.end_col_offset or 0))
            for one in texts
        ]

    def told(
        self, values: Sequence[JsonValue], besides: Sequence[Span]
    ) -> list[tuple[tuple[Span, ...], tuple[int, ...]]]:
        """Of each value, where it is told, and where the texts begin that are no f-strings yet. Longer values go before those that are a part of them.

        ``besides``: parts of the text that are none of this.
        """
        found: list[tuple[tuple[Span, ...], tuple[int, ...]]] = [((), ())] * len(values)
        taken = list(besides)
        for at in sorted(range(len(values)), key=lambda at: -len(str(values[at]))):
            hits = [hit for hit in self._of(values[at]) if not any(_overlap(hit[0], one) for one in taken)]
            taken += [span for span, _ in hits]
            begins = dict.fromkeys(begin for _, begin in hits if begin is not None)
            found[at] = tuple(span for span, _ in hits), tuple(begins)
        return found

    def _of(self, value: JsonValue) -> Iterator[tuple[Span, int | None]]:
        if isinstance(value, (list, dict, bool)) or value is None or len(str(value)) < _SHORTEST:
            return
        word = re.compile(rf"(?<!\w){re.escape(str(value))}(?!\w)")
        for start, end in self._spans:
            begins = _BEGINS.match(self._source[start:end])
            if begins is None:
                continue
            plain = not begins[1]
            if plain and re.search(rb"[{}]", self._source[start:end]):
                continue
            quote, whole = len(begins[2]), self._source[start:end].decode()
            inner = len(begins[0]), len(whole) - quote
            for first, last in _words(whole, inner, word):
                span = start + len(whole[:first].encode()), start + len(whole[:last].encode())
                yield span, start if plain else None


def _words(text: str, inner: Span, word: re.Pattern[str]) -> Iterator[Span]:
    """The places of a word within a text, by characters, but for those between braces and behind backslashes."""
    for hit in word.finditer(text, *inner):
        before = text[inner[0] : hit.start()].replace("{{", "").replace("}}", "")
        if before.count("{") == before.count("}") and text[hit.start() - 1] != "\\":
            yield hit.span()


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
