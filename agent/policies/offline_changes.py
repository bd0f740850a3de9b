"""Tools that change something are left alone unless the request's words ask for that change."""

import re

from agent.clauses import clauses
from domain.tool import ToolDoc
from graph.identifiers import text_words, words

_CHANGES: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "create add make new insert register open start save store write upload put",
        "update edit change modify set rename move replace patch correct",
        "delete remove cancel drop clear erase close stop unsubscribe",
        "send post publish message email notify submit share tweet reply",
        "book reserve schedule plan arrange appoint",
        "buy order pay purchase checkout transfer donate charge subscribe",
        "remind alarm",
        "follow like vote rate join block invite",
    )
)
_LOOSE = frozenset({0, 1})
"""Kinds whose words ask for reading as often: "open the page", "set the scene", "make a list"."""
_READS = frozenset(
    {
        "get", "search", "find", "list", "look", "fetch", "query", "convert", "translate", "analyze", "analyse",
        "check", "calculate", "compute", "detect", "generate", "classify", "summarize", "summarise", "extract",
        "validate", "verify", "compare", "predict", "recommend", "suggest", "lookup", "parse", "estimate", "score",
        "identify", "recognize", "recognise", "transform", "format", "encode", "decode", "solve", "evaluate", "read",
        "show", "count",
    }
)  # fmt: skip
_FIRST = re.compile(r"\W*(?:please\s+|kindly\s+|just\s+|go ahead and\s+)?(\w+)", re.I)
_TOLD = re.compile(
    r"\b(?:please|kindly|(?:could|can|would|will) you|(?:want|need|like|love|wish|have|going|help me|ask you|you|remember|forget)(?: you)? to|let'?s|let us"
    r"|(?:and|then|,|also|;|:|-)(?: please| also| then)?)\s+(?:also\s+|then\s+|please\s+|just\s+)?(\w+)", re.I
)  # fmt: skip
_FORM = re.compile(r"(\w{3,})(?:ing|ed)")


def may_call(tool: ToolDoc, request: str) -> bool:
    """Whether calling a tool is within what the request asks for.

    Safe methods always are. Others are where the request uses a word of a change that the tool's own text names, or where the
    tool is posted to but its name only reads or computes ("translate", "search").
    """
    if tool.safe:
        return True
    own = _changes(words(tool.api))[:1]
    if not own and tool.method == "POST" and _READS & set(words(tool.api)):
        return True
    own = own or _changes(tuple(text_words(tool.description)))
    asked = _asked(request)
    return any(_CHANGES[i] & asked for i in own)


def changes_asked(text: str) -> frozenset[str]:
    """The words by which a text asks for a change."""
    return frozenset(word for word in _asked(text) if any(word in group for group in _CHANGES))


def told_to_change(clause: str) -> frozenset[int]:
    """The kinds of change that a clause itself tells somebody to make: it begins with the word for it; empty for a question."""
    first = _FIRST.match(clause)
    found = words(first[1].lower()) if first else ()
    return frozenset(_changes(found)) - _LOOSE


def makes(tool: ToolDoc, kinds: frozenset[int]) -> bool:
    """Whether a tool's name, or of one that is not safe its description, says that it makes such a change."""
    named = frozenset(_changes(words(tool.api)))
    return bool(kinds & (named if tool.safe else named | frozenset(_changes(tuple(text_words(tool.description))))))


def _changes(named: tuple[str, ...]) -> list[int]:
    """The kinds of change that words name, in their order: ``delete_book`` deletes, it does not book."""
    return [i for word in named for i, group in enumerate(_CHANGES) if word in group]


def _asked(request: str) -> frozenset[str]:
    """The words by which a request tells somebody to do something: at the start of a clause, or after what asks for it ("please",
    "could you", "I want to"). Nouns that a clause opens with count as well: "Book me a table".
    """
    opening = [found[1] for clause in clauses(request) if (found := _FIRST.match(clause))]
    told = [found[1] for found in _TOLD.finditer(request)]
    base = {word for token in (*opening, *told) for word in words(token.lower())}
    stems = {stem[1] for word in base if (stem := _FORM.fullmatch(word))}
    return frozenset(base | stems | {f"{stem}e" for stem in stems})
