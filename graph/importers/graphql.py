"""Side effects of GraphQL documents by their grammar: operations are queries, mutations or subscriptions."""

import re
from collections.abc import Iterable

from domain.side_effect import Said
from domain.tool import Parameter

_IGNORED = re.compile(r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)
_PIECE = re.compile(r"[{}()]|[_A-Za-z][_0-9A-Za-z]*|[^\s,]")
_OPENS, _CLOSES = frozenset("{("), frozenset("})")
_DEFINITIONS = frozenset({"query", "mutation", "subscription", "fragment", "{"})


def fixed_effect(parameters: Iterable[Parameter]) -> Said:
    """Return the side effect of a call whose body always holds the same GraphQL document.

    Empty where no parameter ``query`` of the body has exactly one allowed value.
    """
    found = (one for one in parameters if one.name == "query" and one.location == "body" and len(one.enum) == 1)
    fixed = next(found, None)
    return graphql_effect(fixed.enum[0]) if fixed is not None and isinstance(fixed.enum[0], str) else ""


def graphql_effect(text: str) -> Said:
    """Return ``reads`` if all operations of a document are queries, ``changes`` if one is a mutation.

    Empty for subscriptions, and for a text that is not a complete GraphQL document.
    """
    begun: list[str] = []
    depth, at_start = 0, True
    for piece in _PIECE.findall(_IGNORED.sub(" ", text)):  # braces in strings and comments must not count
        if at_start:
            if piece not in _DEFINITIONS:
                return ""
            begun.append(piece)
        depth += (piece in _OPENS) - (piece in _CLOSES)
        at_start = depth == 0 and piece == "}"
    operations = {"query" if one == "{" else one for one in begun} - {"fragment"}
    if depth or not at_start or not operations:
        return ""
    if "mutation" in operations:
        return "changes"
    return "reads" if operations == {"query"} else ""
