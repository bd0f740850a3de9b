"""Text to words, the same way for documents and requests: identifiers are split, case and punctuation go."""

import re
from functools import lru_cache

from domain.tool import ToolId, tool_id_parts

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
"""Parts of an identifier: ``getUserID2`` → get, User, ID, 2; other scripts stay whole."""

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")

SENTENCES = 6
"""Sentences of a request that are looked at apart, at most."""

WORDS = "2"
"""Version of the splitting: indexes of words made with another one are built anew."""

_COMMON = frozenset(
    _PIECE.findall(
        "a an and any are as at be by can could do does for from has have how i if in is it like m me my need of on or our "
        "please provide s some that the this to want we what which will with would you your also"
    )
)


def split_identifier(text: str) -> str:
    """Readable form of a name: ``getUser_byID`` → ``get User by ID``."""
    return " ".join(_PIECE.findall(text))


def words(text: str) -> list[str]:
    """Lower-case words in order, with repeats."""
    return [piece.lower() for piece in _PIECE.findall(text)]


def telling_words(text: str) -> list[str]:
    """:func:`words` without those that say nothing of a tool: articles, pronouns, and how one asks for something."""
    return [word for word in words(text) if word not in _COMMON]


def sentence_spans(text: str, limit: int = SENTENCES) -> list[tuple[int, int]]:
    """Where the first ``limit`` sentences of four words or more begin and end; none where the text is one sentence."""
    ends = [(one.start(), one.end()) for one in _SENTENCE_END.finditer(text)]
    bounds = zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)], strict=True)
    found = [(start, end) for start, end in bounds if len(text[start:end].split(None, 3)) > 3]
    return found[:limit] if len(found) > 1 else []


def sentences(text: str, limit: int = SENTENCES) -> list[str]:
    """The texts of :func:`sentence_spans`."""
    return [text[start:end].strip() for start, end in sentence_spans(text, limit)]


def first_words(text: str, limit: int) -> str:
    """The first ``limit`` white-space separated words, in one line."""
    return " ".join(text.split(None, limit)[:limit])


@lru_cache(maxsize=65_536)
def name_words(name: str) -> tuple[str, ...]:
    """:func:`words` of a name that is met again and again."""
    return tuple(words(name))


@lru_cache(maxsize=65_536)
def standard_name(text: str) -> str:
    """A name without case and punctuation: what two copies of one tool have in common."""
    return "_".join(words(text))


def standard_names(tool: ToolId) -> tuple[str, str]:
    """Tool set and API of an id, as :func:`standard_name` has them: equal for copies in another spelling or category."""
    _, toolset, api = tool_id_parts(tool)
    return standard_name(toolset), standard_name(api)
