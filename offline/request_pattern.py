"""A request without its values: what it asks for, whoever or whatever it asks it about."""

from datetime import date

from offline.nlp.entities import spans
from offline.nlp.gazetteer import word_set

_VALUES = word_set("number date time quoted email url domain ip phone coordinates code name")
"""Spans that vary from one request to the next of the same kind; units, currencies and languages tell what is wanted."""
_NAMED = frozenset({"quoted", "code"})
_ANY_DAY = date(2000, 1, 1)
"""What "tomorrow" is counted from does not matter: only that it is a date."""


def pattern(request: str) -> str:
    """The request with each value replaced by its kind: "weather in Oslo on 3 May" → "weather in <name> on <date>"."""
    found = sorted((span for span in spans(request, _ANY_DAY) if span.kind in _VALUES), key=lambda s: (s.start, -s.end))
    pieces: list[str] = []
    end = 0
    for span in found:
        if span.start >= end:
            pieces += [request[end : span.start], f"<{'name' if span.kind in _NAMED else span.kind}>"]
            end = span.end
    return " ".join("".join([*pieces, request[end:]]).split())
