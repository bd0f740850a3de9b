"""Reads declared side effects: the words ``reads`` and ``changes``, MCP hints, and fixed GraphQL documents."""

import re
from collections.abc import Iterable, Mapping

from domain.side_effect import DeclaredEffect
from domain.tool import Parameter
from graph.importers.records import RecordError

_CHANGE_HINTS = ("destructiveHint", "idempotentHint")


def infer_read_only(hints: Mapping[str, object], prefix: str = "") -> bool | None:
    """Return whether a tool only reads according to its MCP annotations; None where they do not say.

    ``destructiveHint`` and ``idempotentHint`` have a meaning only for tools that change something, so where
    ``readOnlyHint`` is missing (its default is false) either of them implies a change.
    """
    read_only = hints.get(f"{prefix}readOnlyHint")
    if isinstance(read_only, bool):
        return read_only
    return False if any(isinstance(hints.get(f"{prefix}{name}"), bool) for name in _CHANGE_HINTS) else None


def parse_side_effect(name: str, word: object, read_only: bool | None = None) -> DeclaredEffect:
    """Parse a declared side effect; where none is declared, use what the hints say.

    Args:
        name: The key of the declaration, for the error message.
        word: The declaration, ``reads`` or ``changes``; None if there is none.
        read_only: The result of :func:`infer_read_only`.

    Returns:
        Empty where neither says anything.

    Raises:
        RecordError: the word is unknown.
    """
    match word, read_only:
        case ("reads", _) | (None, True):
            return "reads"
        case ("changes", _) | (None, False):
            return "changes"
        case None, _:
            return ""
        case _:
            raise RecordError(f"{name!r} must be reads or changes, not {str(word)[:40]!r}")


_IGNORED = re.compile(r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)
_TOKEN = re.compile(r"[{}()]|[_A-Za-z][_0-9A-Za-z]*|[^\s,]")
_OPENS, _CLOSES = frozenset("{("), frozenset("})")
_DEFINITIONS = frozenset({"query", "mutation", "subscription", "fragment", "{"})


def find_fixed_effect(parameters: Iterable[Parameter]) -> DeclaredEffect:
    """Return the side effect of a call whose body always holds the same GraphQL document.

    Empty where no parameter ``query`` of the body has exactly one allowed value.
    """
    candidates = (one for one in parameters if one.name == "query" and one.location == "body" and len(one.enum) == 1)
    document = next(candidates, None)
    return classify_graphql(document.enum[0]) if document is not None and isinstance(document.enum[0], str) else ""


def classify_graphql(text: str) -> DeclaredEffect:
    """Return ``reads`` if all operations of a document are queries, ``changes`` if one is a mutation.

    Empty for subscriptions, and for a text that is not a complete GraphQL document.
    """
    definitions: list[str] = []
    depth, at_start = 0, True
    for lexeme in _TOKEN.findall(_IGNORED.sub(" ", text)):  # braces in strings and comments must not count
        if at_start:
            if lexeme not in _DEFINITIONS:
                return ""
            definitions.append(lexeme)
        depth += (lexeme in _OPENS) - (lexeme in _CLOSES)
        at_start = depth == 0 and lexeme == "}"
    operations = {"query" if one == "{" else one for one in definitions} - {"fragment"}
    if depth or not at_start or not operations:
        return ""
    if "mutation" in operations:
        return "changes"
    return "reads" if operations == {"query"} else ""
