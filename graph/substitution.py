"""Finds tools that do the same job: similar documents, parameters that can be mapped, and similar responses."""

from collections.abc import Iterable
from dataclasses import dataclass

from domain.tool import Parameter, ParameterType, ToolDoc
from graph.coupling import aliased, field_words, subject
from graph.identifiers import words
from graph.links import Substitute
from graph.response_fields import OutputField

SIMILAR = 0.7
"""Minimum similarity of two documents that are compared at all."""

SUBSTITUTE = 0.6
"""Minimum score of a substitute: document similarity × parameter fit × response similarity."""

KEPT = 10
"""Maximum number of substitutes stored per tool."""

_UNKNOWN = 0.9
"""Response similarity if one of the two responses is not documented."""

_ALONE = 0.8
"""Fit of two required parameters with different names, if they are the only ones left to map."""

_SECRETS = frozenset({"key", "token", "secret", "password", "authorization", "auth", "credential", "host"})
_GENERIC = frozenset(
    {"api", "data", "get", "service", "free", "scraper", "info", "search", "tool", "online", "web", "the", "and", "by"}
)
"""Words of a service's name that do not tell one service's ids from another's."""

_NUMBERED = frozenset({"v1", "v2", "v3", "v", "1", "2", "3", "api", "endpoint", "copy", "new", "old"})
_IDS = frozenset({"id", "code", "symbol", "slug"})
_ROLES = {"from": "from", "base": "from", "source": "from", "origin": "from", "departure": "from", "start": "from",
          "to": "to", "target": "to", "destination": "to", "quote": "to", "arrival": "to", "end": "to"}  # fmt: skip
_NUMBERS: frozenset[ParameterType] = frozenset({"integer", "number"})


@dataclass(frozen=True, slots=True)
class Doable:
    """A tool with what is compared to find substitutes: its document and its response fields."""

    doc: ToolDoc
    fields: tuple[OutputField, ...]


def best_substitutes(one: Doable, others: Iterable[tuple[Doable, float]]) -> list[Substitute]:
    """Return the best :data:`KEPT` substitutes among ``others``, which come with their similarity, best first."""
    found = [pair for other, similarity in others if (pair := substitute(one, other, similarity)) is not None]
    return sorted(found, key=lambda pair: (-pair.score, pair.other))[:KEPT]


def substitute(one: Doable, other: Doable, similarity: float) -> Substitute | None:
    """Return how ``other`` can do the job of ``one``, or None if it cannot.

    Every parameter that ``other`` requires must have a default or take the value of a required one of ``one``, and every value that ``one``
    requires must be used, except for keys. Only tools that agree on having side effects replace each other. Within one tool set, where similar
    documents are the rule, the names must agree as well; between two tool sets, ids are interchangeable only if both names refer to one
    service, and keys and tokens never are.
    """
    if one.doc.id == other.doc.id or similarity < SIMILAR or one.doc.safe != other.doc.safe:
        return None
    if not _same_subject(one.doc, other.doc):
        return None
    mapped = renamed(one.doc, other.doc)
    if mapped is None:
        return None
    parameters, fit = mapped
    if one.doc.toolset != other.doc.toolset and not _across(one.doc, other.doc, parameters):
        return None
    score = min(1.0, similarity) * fit * _alike(one.fields, other.fields)
    return Substitute(one.doc.id, other.doc.id, score, parameters) if score >= SUBSTITUTE else None


def _same_subject(one: ToolDoc, other: ToolDoc) -> bool:
    """Return whether two names have the same subject.

    Within one tool set all words must match, elsewhere half of the shorter name's.
    """
    first, second = subject(one.api) - _NUMBERED, subject(other.api) - _NUMBERED
    if one.toolset == other.toolset:
        return first == second
    return not first or not second or 2 * len(first & second) >= min(len(first), len(second))


def _across(one: ToolDoc, other: ToolDoc, parameters: dict[str, str]) -> bool:
    """Return whether the parameter values of one service mean the same to another."""
    if subject(one.api) & _SECRETS or (not one.safe and not parameters):
        return False
    ids = any("id" in words(p.name) for p in one.required if p.name in parameters)
    return not ids or bool((set(words(one.toolset)) & set(words(other.toolset))) - _GENERIC)


def renamed(one: ToolDoc, other: ToolDoc) -> tuple[dict[str, str], float] | None:
    """Map the parameters of ``one`` to those of ``other`` and score the fit; None if a required one is left over.

    Pairs are taken greedily, the best fit first.
    """
    given = [p for p in one.parameters if not _secret(p)]
    taken = [p for p in other.parameters if not _secret(p)]
    pairs = sorted(
        (
            (fit, mine.required, mine.name, theirs.name)
            for mine in given
            for theirs in taken
            if (fit := _fit(mine, theirs))
        ),
        key=lambda pair: (-pair[0], not pair[1], pair[2], pair[3]),
    )
    parameters: dict[str, str] = {}
    fits: dict[str, float] = {}
    # Greedy: the best pairs come first, those of required parameters before others.
    for fit, _, mine, theirs in pairs:
        if mine not in parameters and theirs not in fits:
            parameters[mine], fits[theirs] = theirs, fit
    left = [p for p in given if p.required and p.name not in parameters]
    open_ones = [p for p in taken if p.required and p.default is None and not _served(p.name, parameters, given)]
    if len(left) == len(open_ones) == 1 and _exchangeable(left[0], open_ones[0]):
        parameters[left[0].name], fits[open_ones[0].name] = open_ones[0].name, _ALONE
        left, open_ones = [], []
    if left or open_ones:
        return None
    wanted = [fits[p.name] for p in taken if p.required and p.name in fits]
    return parameters, sum(wanted) / len(wanted) if wanted else 1.0


def _served(name: str, parameters: dict[str, str], given: list[Parameter]) -> bool:
    """Return whether a parameter takes the value of a required one, which every call has."""
    return any(
        theirs == name and any(p.name == mine and p.required for p in given) for mine, theirs in parameters.items()
    )


def _fit(mine: Parameter, theirs: Parameter) -> float:
    """Score in [0, 1] how well the value of one parameter fits another.

    1.0 for equal names, 0.8 if they share half of their words.
    """
    first, second = _words(mine), _words(theirs)
    if not first or not second or not _same_type(mine.type, theirs.type) or _role(mine) != _role(theirs):
        return 0.0
    if mine.enum and theirs.enum and not {str(v) for v in mine.enum} & {str(v) for v in theirs.enum}:
        return 0.0
    if first == second:
        return 1.0
    share = len(first & second) / len(first | second)
    return 0.8 if share >= 0.5 and bool(first & _IDS) == bool(second & _IDS) else 0.0


def _exchangeable(mine: Parameter, theirs: Parameter) -> bool:
    """Return whether two remaining parameters may mean the same, as ``q`` and ``city``, but not an id and a name."""
    plain = not (mine.enum or theirs.enum) and _same_type(mine.type, theirs.type)
    return plain and bool(_words(mine) & _IDS) == bool(_words(theirs) & _IDS) and _role(mine) == _role(theirs)


def _words(parameter: Parameter) -> frozenset[str]:
    named = words(parameter.name)
    return frozenset(aliased(named)) - _ROLES.keys() or frozenset(named)


def _role(parameter: Parameter) -> str | None:
    return next((_ROLES[word] for word in words(parameter.name) if word in _ROLES), None)


def _secret(parameter: Parameter) -> bool:
    return bool(_SECRETS & set(words(parameter.name)))


def _same_type(mine: ParameterType, theirs: ParameterType) -> bool:
    """Return whether a value of the first type is accepted by the second."""
    return mine == theirs or theirs == "any" or {mine, theirs} <= _NUMBERS or (theirs == "string" and mine in _NUMBERS)


def _alike(one: tuple[OutputField, ...], other: tuple[OutputField, ...]) -> float:
    """Score the similarity of two responses, from 0.5 to 1: the share of the shorter one's names in the longer."""
    first, second = ({frozenset(field_words(field)) for field in fields} for fields in (one, other))
    if not first or not second:
        return _UNKNOWN
    return 0.5 + 0.5 * len(first & second) / min(len(first), len(second))
