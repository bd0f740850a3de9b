"""Yes and no are no answer to *what*: questions that want a value, and what tools tell only whether."""

import re

from domain.tool import ToolDoc
from graph.identifiers import text_words, words
from graph.outputs import output_fields

_VALUE = re.compile(r"\W*(?:(?:and|so|but|then|ok|okay)\W+)?(?:what|which|who|whom|whose|where|when)\b", re.IGNORECASE)
_WHETHER = re.compile(r"\W*(?:is|are|was|were|do|does|did|has|have|had)\s+(?!there\b|you\b|i\b|we\b)\S", re.IGNORECASE)
"""``Is there a hotel``, ``do you know``: what is asked for so is a thing."""
_TOLD = re.compile(r"\bwhether\b[^.;:]*", re.IGNORECASE)
_SMALL = frozenset({"is", "has", "are", "was", "can", "the", "of", "a"})


def wants_value(clause: str) -> bool:
    """Whether a clause asks what, which, who, where or when."""
    return _VALUE.match(clause) is not None


def asks_whether(request: str) -> bool:
    """Whether a request is answered by yes or no."""
    return _WHETHER.match(request) is not None


def told_only_whether(doc: ToolDoc) -> frozenset[str]:
    """The words of which a tool tells no more than yes or no: ``is_capital`` names no capital."""
    fields = output_fields(doc)
    told = {word for field in fields if field.type == "boolean" for word in words(field.name)} - _SMALL
    if not told:
        return frozenset()
    named = {*words(doc.api), *words(doc.toolset), *words(doc.category), *text_words(_TOLD.sub(" ", doc.description))}
    valued = {word for field in fields if field.type != "boolean" for word in (*words(field.name), *field.holder)}
    taken = {word for parameter in doc.parameters for word in words(parameter.name)}
    return frozenset(told - named - valued - taken)
