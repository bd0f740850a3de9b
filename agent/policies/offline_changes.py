"""Tools that change something are left alone unless the request's words ask for that change."""

import re

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
_READS = frozenset(
    {
        "get", "search", "find", "list", "look", "fetch", "query", "convert", "translate", "analyze", "analyse",
        "check", "calculate", "compute", "detect", "generate", "classify", "summarize", "summarise", "extract",
        "validate", "verify", "compare", "predict", "recommend", "suggest", "lookup", "parse", "estimate", "score",
        "identify", "recognize", "recognise", "transform", "format", "encode", "decode", "solve", "evaluate", "read",
        "show", "count",
    }
)  # fmt: skip
_WORD = re.compile(r"\w+")


def may_call(tool: ToolDoc, request: str) -> bool:
    """Whether calling a tool is within what the request asks for.

    Safe methods always are. Others are where the request uses a word of a change that the tool's own text names, or where the
    tool is posted to but its name only reads or computes ("translate", "search").
    """
    if tool.safe:
        return True
    named = frozenset(words(tool.api))
    own = {i for i, group in enumerate(_CHANGES) if group & named}
    if not own and tool.method == "POST" and named & _READS:
        return True
    own = own or {i for i, group in enumerate(_CHANGES) if group & text_words(tool.description)}
    asked = {base for word in _WORD.findall(request.lower()) for base in words(word)}
    return any(_CHANGES[i] & asked for i in own)
