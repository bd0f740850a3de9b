"""Splitting of texts into words and sentences, the same for documents and requests."""

import re
from functools import lru_cache

from domain.tool import ToolId, split_tool_id

_WORD_PATTERN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
"""Parts of an identifier: ``getUserID2`` → get, User, ID, 2; other scripts stay whole."""

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")

MAX_SENTENCES = 6
"""Maximum of sentences of a request that are scored separately."""

SPLITTING_VERSION = "2"
"""Version of the splitting: word indexes built with another version are rebuilt."""

_STOP_WORDS = frozenset(
    _WORD_PATTERN.findall(
        "a an and any are as at be by can could do does for from has have how i if in is it like m me my need of on or our "
        "please provide s some that the this to want we what which will with would you your also"
    )
)


def split_identifier(text: str) -> str:
    """Return the readable form of a name: ``getUser_byID`` → ``get User by ID``."""
    return " ".join(_WORD_PATTERN.findall(text))


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order and with repeats; punctuation is dropped."""
    return [piece.lower() for piece in _WORD_PATTERN.findall(text)]


def split_terms(text: str) -> list[str]:
    """Return :func:`split_words` without stop words: articles, pronouns and phrases such as *can you*."""
    return [word for word in split_words(text) if word not in _STOP_WORDS]


def find_sentence_spans(text: str, limit: int = MAX_SENTENCES) -> list[tuple[int, int]]:
    """Return start and end of the first ``limit`` sentences that have four words or more.

    Empty if there is only one: then the sentence says no more than the whole text.
    """
    breaks = [(match.start(), match.end()) for match in _SENTENCE_END.finditer(text)]
    bounds = zip([0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(text)], strict=True)
    spans = [(start, end) for start, end in bounds if len(text[start:end].split(None, 3)) > 3]
    return spans[:limit] if len(spans) > 1 else []


def split_sentences(text: str, limit: int = MAX_SENTENCES) -> list[str]:
    """Return the texts of :func:`find_sentence_spans`."""
    return [text[start:end].strip() for start, end in find_sentence_spans(text, limit)]


def truncate_words(text: str, limit: int) -> str:
    """Return the first ``limit`` white-space separated words, in one line."""
    return " ".join(text.split(None, limit)[:limit])


@lru_cache(maxsize=65_536)
def split_name(name: str) -> tuple[str, ...]:
    """Return :func:`split_words` of a name, cached because names recur."""
    return tuple(split_words(name))


@lru_cache(maxsize=65_536)
def normalize_name(text: str) -> str:
    """Return a name without case and punctuation, equal for copies of one tool."""
    return "_".join(split_words(text))


def normalize_tool_name(tool: ToolId) -> tuple[str, str]:
    """Return tool set and API of an id, normalised by :func:`normalize_name`.

    They are equal for copies in another spelling or category.
    """
    _, toolset, api = split_tool_id(tool)
    return normalize_name(toolset), normalize_name(api)
