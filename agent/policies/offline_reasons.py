"""The offline policy's reasons in words that a person can follow."""

from collections.abc import Sequence

from agent.policy import Candidate, Situation
from domain.tool import ToolDoc
from graph.coupling import best_field


def fed_by(path: Sequence[ToolDoc], candidate: Candidate) -> str:
    """What feeds a candidate, as the end of a sentence; empty where nothing does."""
    sources = [f"{path[i].api}.{field}" for i in candidate.feeds_from for field in given(path[i], candidate.tool)[:2]]
    return f", fed by {', '.join(sources)}" if sources else ""


def given(producer: ToolDoc, consumer: ToolDoc) -> list[str]:
    """The names of the fields by which one tool serves another."""
    found = [best_field(producer, parameter, consumer) for parameter in consumer.required]
    return list(dict.fromkeys(coupling.field.name or coupling.field.path for coupling in found if coupling))


def finished(situation: Situation, done: frozenset[int], able: Sequence[int]) -> str:
    """How much of the request a finished path covers. ``done`` and ``able``: the clauses that it serves, and that any tool fits."""
    left = {i: f'"{clause}"' for i, clause in enumerate(situation.clauses) if i not in done}
    if not left:
        return "every part of the request is covered"
    known = "no tool at hand serves" if any(i in able for i in left) else "no tool fits"
    return f"{len(done)} of {len(situation.clauses)} parts are covered; {known} {', '.join(left.values())}"
