"""The offline policy's reasons in words that a person can follow."""

from collections.abc import Sequence

from agent.arguments import bind
from agent.candidate import Candidate
from agent.policy import ArgumentsQuestion, Situation
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


def lacks(situation: Situation, candidate: Candidate) -> str:
    """The required inputs of a candidate that neither the request nor the path fills, judged over all its inputs at once.

    One by one, as the walk looks at them, a value may be counted for an input that a better one then has no use for.
    """
    bound = bind(ArgumentsQuestion(situation.request, candidate.tool, ()))
    fed = {feed.parameter for feed in candidate.feeds}
    return ", ".join([name for name in bound.missing if name not in fed] or candidate.missing)


def finished(situation: Situation, done: frozenset[int], able: Sequence[int]) -> str:
    """How much of the request a finished path covers. ``done`` and ``able``: the clauses that it serves, and that any tool fits."""
    left = {i: f'"{clause}"' for i, clause in enumerate(situation.clauses) if i not in done}
    if not left:
        return "every part of the request is covered"
    known = "no tool at hand serves" if any(i in able for i in left) else "no tool fits"
    return f"{len(done)} of {len(situation.clauses)} parts are covered; {known} {', '.join(left.values())}"
