"""Finds tools that can replace one another, by their documents, parameters and responses."""

from collections.abc import Iterable
from dataclasses import dataclass

from domain.tool import Parameter, ParameterType, ToolDoc
from graph.coupling import get_field_words, get_subject_words, resolve_alias
from graph.identifiers import split_words
from graph.links import SubstituteLink
from graph.response_fields import OutputField

MIN_SIMILARITY = 0.7
"""Minimum similarity of two documents for their tools to be compared."""

MIN_SUBSTITUTE_SCORE = 0.6
"""Minimum score of a substitute: document similarity × parameter fit × response similarity."""

MAX_SUBSTITUTES = 10
"""Maximum number of substitutes stored per tool."""

_UNDOCUMENTED_SIMILARITY = 0.9
"""Response similarity if one of the two responses is not documented."""

_LONE_PAIR_FIT = 0.8
"""Fit of two required parameters with different names, if they are the only ones left to map."""

_SECRETS = frozenset({"key", "token", "secret", "password", "authorization", "auth", "credential", "host"})
_GENERIC = frozenset(
    {"api", "data", "get", "service", "free", "scraper", "info", "search", "tool", "online", "web", "the", "and", "by"}
)
"""Words of tool set names that do not show that two tool sets belong to one service."""

_NUMBERED = frozenset({"v1", "v2", "v3", "v", "1", "2", "3", "api", "endpoint", "copy", "new", "old"})
"""Words that distinguish versions of one tool; they are not compared."""
_IDS = frozenset({"id", "code", "symbol", "slug"})
_ROLES = {"from": "from", "base": "from", "source": "from", "origin": "from", "departure": "from", "start": "from",
          "to": "to", "target": "to", "destination": "to", "quote": "to", "arrival": "to", "end": "to"}  # fmt: skip
_NUMBERS: frozenset[ParameterType] = frozenset({"integer", "number"})


@dataclass(frozen=True, slots=True)
class SubstituteCandidate:
    """A tool's document and response fields, which are compared to find substitutes."""

    doc: ToolDoc
    fields: tuple[OutputField, ...]


def find_substitutes(
    tool: SubstituteCandidate, others: Iterable[tuple[SubstituteCandidate, float]]
) -> list[SubstituteLink]:
    """Return the best :data:`MAX_SUBSTITUTES` substitutes of a tool, best first.

    ``others`` are the tools to compare, each with the similarity of its document.
    """
    substitutes = [
        pair for other, similarity in others if (pair := match_substitute(tool, other, similarity)) is not None
    ]
    return sorted(substitutes, key=lambda pair: (-pair.score, pair.other))[:MAX_SUBSTITUTES]


def match_substitute(
    tool: SubstituteCandidate, candidate: SubstituteCandidate, similarity: float
) -> SubstituteLink | None:
    """Return how ``candidate`` can replace ``tool``, or None if it cannot.

    Both must have side effects, or neither. Every parameter that ``candidate`` requires needs a default or the value of
    a required one of ``tool``, and every value that ``tool`` requires must be used; secrets are left out of this.
    Within one tool set, where all documents are similar, the names must agree as well. Between two tool sets, ids can
    be passed on only if both belong to one service.
    """
    if tool.doc.id == candidate.doc.id or similarity < MIN_SIMILARITY or tool.doc.safe != candidate.doc.safe:
        return None
    if not _has_same_subject(tool.doc, candidate.doc):
        return None
    mapped = map_parameters(tool.doc, candidate.doc)
    if mapped is None:
        return None
    parameters, fit = mapped
    if tool.doc.toolset != candidate.doc.toolset and not _is_portable(tool.doc, candidate.doc, parameters):
        return None
    score = min(1.0, similarity) * fit * _score_answer_similarity(tool.fields, candidate.fields)
    return SubstituteLink(tool.doc.id, candidate.doc.id, score, parameters) if score >= MIN_SUBSTITUTE_SCORE else None


def _has_same_subject(tool: ToolDoc, candidate: ToolDoc) -> bool:
    """Return whether two tool names have the same subject.

    Within one tool set all words must match, elsewhere half of the words of the shorter name.
    """
    first, second = get_subject_words(tool.api) - _NUMBERED, get_subject_words(candidate.api) - _NUMBERED
    if tool.toolset == candidate.toolset:
        return first == second
    return not first or not second or 2 * len(first & second) >= min(len(first), len(second))


def _is_portable(tool: ToolDoc, candidate: ToolDoc, parameters: dict[str, str]) -> bool:
    """Return whether the values that the tool is called with mean the same to another service."""
    if get_subject_words(tool.api) & _SECRETS or (not tool.safe and not parameters):
        return False
    ids = any("id" in split_words(p.name) for p in tool.required if p.name in parameters)
    return not ids or bool((set(split_words(tool.toolset)) & set(split_words(candidate.toolset))) - _GENERIC)


def map_parameters(tool: ToolDoc, candidate: ToolDoc) -> tuple[dict[str, str], float] | None:
    """Map the parameters of ``tool`` to those of ``candidate``; None if a required one is left over.

    Returns the mapping and the mean fit of the candidate's required parameters. A single pair of required parameters
    that is left over is mapped despite different names.
    """
    own_parameters = [p for p in tool.parameters if not _is_secret(p)]
    candidate_parameters = [p for p in candidate.parameters if not _is_secret(p)]
    pairs = sorted(
        (
            (fit, mine.required, mine.name, theirs.name)
            for mine in own_parameters
            for theirs in candidate_parameters
            if (fit := _score_fit(mine, theirs))
        ),
        key=lambda pair: (-pair[0], not pair[1], pair[2], pair[3]),
    )
    parameters: dict[str, str] = {}
    fits: dict[str, float] = {}
    # Greedy: the best pairs come first, those of required parameters before others.
    for fit, _, mine, theirs in pairs:
        if mine not in parameters and theirs not in fits:
            parameters[mine], fits[theirs] = theirs, fit
    unmapped = [p for p in own_parameters if p.required and p.name not in parameters]
    unfilled = [
        p
        for p in candidate_parameters
        if p.required and p.default is None and not _is_filled(p.name, parameters, own_parameters)
    ]
    if len(unmapped) == len(unfilled) == 1 and _is_exchangeable(unmapped[0], unfilled[0]):
        parameters[unmapped[0].name], fits[unfilled[0].name] = unfilled[0].name, _LONE_PAIR_FIT
        unmapped, unfilled = [], []
    if unmapped or unfilled:
        return None
    required_fits = [fits[p.name] for p in candidate_parameters if p.required and p.name in fits]
    return parameters, sum(required_fits) / len(required_fits) if required_fits else 1.0


def _is_filled(name: str, parameters: dict[str, str], own_parameters: list[Parameter]) -> bool:
    """Return whether a candidate's parameter is mapped from a required one, so that every call gives it a value."""
    return any(
        theirs == name and any(p.name == mine and p.required for p in own_parameters)
        for mine, theirs in parameters.items()
    )


def _score_fit(mine: Parameter, theirs: Parameter) -> float:
    """Score how well the value of one parameter fits another: 1 for equal names, 0.8 for half of the words, else 0."""
    first, second = _get_words(mine), _get_words(theirs)
    if not first or not second or not _accepts_type(mine.type, theirs.type) or _find_role(mine) != _find_role(theirs):
        return 0.0
    if mine.enum and theirs.enum and not {str(v) for v in mine.enum} & {str(v) for v in theirs.enum}:
        return 0.0
    if first == second:
        return 1.0
    share = len(first & second) / len(first | second)
    return 0.8 if share >= 0.5 and bool(first & _IDS) == bool(second & _IDS) else 0.0


def _is_exchangeable(mine: Parameter, theirs: Parameter) -> bool:
    """Return whether two left-over parameters may mean the same: ``q`` and ``city``, but not an id and a name."""
    plain = not (mine.enum or theirs.enum) and _accepts_type(mine.type, theirs.type)
    return (
        plain
        and bool(_get_words(mine) & _IDS) == bool(_get_words(theirs) & _IDS)
        and _find_role(mine) == _find_role(theirs)
    )


def _get_words(parameter: Parameter) -> frozenset[str]:
    name_words = split_words(parameter.name)
    return frozenset(resolve_alias(name_words)) - _ROLES.keys() or frozenset(name_words)


def _find_role(parameter: Parameter) -> str | None:
    return next((_ROLES[word] for word in split_words(parameter.name) if word in _ROLES), None)


def _is_secret(parameter: Parameter) -> bool:
    return bool(_SECRETS & set(split_words(parameter.name)))


def _accepts_type(mine: ParameterType, theirs: ParameterType) -> bool:
    """Return whether a value of the first type is accepted by the second."""
    return mine == theirs or theirs == "any" or {mine, theirs} <= _NUMBERS or (theirs == "string" and mine in _NUMBERS)


def _score_answer_similarity(own_fields: tuple[OutputField, ...], candidate_fields: tuple[OutputField, ...]) -> float:
    """Score the similarity of two responses, from 0.5 to 1: the share of the shorter one's names in the longer."""
    first, second = (
        {frozenset(get_field_words(field)) for field in fields} for fields in (own_fields, candidate_fields)
    )
    if not first or not second:
        return _UNDOCUMENTED_SIMILARITY
    return 0.5 + 0.5 * len(first & second) / min(len(first), len(second))
