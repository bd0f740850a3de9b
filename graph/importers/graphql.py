"""What a GraphQL document does, by its grammar: its operations are queries, mutations or subscriptions."""

import re
from collections.abc import Iterable

from domain.side_effect import Said
from domain.tool import Parameter

_IGNORED = re.compile(r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)
_PIECE = re.compile(r"[{}()]|[_A-Za-z][_0-9A-Za-z]*|[^\s,]")
_OPENS, _CLOSES = frozenset("{("), frozenset("})")
_DEFINITIONS = frozenset({"query", "mutation", "subscription", "fragment", "{"})


def fixed_effect(parameters: Iterable[Parameter]) -> Said:
    """What a call does whose body holds a GraphQL document that cannot be another; empty where it may be, or there is none."""
    found = (one for one in parameters if one.name == "query" and one.location == "body" and len(one.enum) == 1)
    fixed = next(found, None)
    return graphql_effect(fixed.enum[0]) if fixed is not None and isinstance(fixed.enum[0], str) else ""


def graphql_effect(text: str) -> Said:
    """Reads where all operations are queries; changes where one is a mutation; empty for what is no such document."""
    begun: list[str] = []
    depth, at_start = 0, True
    for piece in _PIECE.findall(_IGNORED.sub(" ", text)):
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
