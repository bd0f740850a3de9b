"""What documents say of a clause: a tool that takes all the values that it tells, and gives a field for what it asks, answers it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.policy.protocol import Situation
from domain.tool import ToolDoc
from offline.coverage import telling, told_only_whether, wants_value
from offline.nlp.coordination import atoms
from offline.unsaid import answers, speaks

Share = Callable[[Sequence[ToolDoc], str], float]
"""How much of the values of a clause some tools make use of, in [0, 1]."""


def by_documents(situation: Situation, share: Share) -> Situation:
    """The situation with such tools as relevant as any: "which language is spoken in Oslo" is no more like a tool that detects languages
    than like one that takes a place and tells its languages.
    """
    best = situation.best_relevance

    def raised(tool: ToolDoc, before: Sequence[ToolDoc], relevance: tuple[float, ...]) -> tuple[float, ...]:
        taking = [*before, tool]
        return tuple(
            max(value, top) if _answers_all(taking, clause, share) else value
            for value, top, clause in zip(relevance, best, situation.clauses, strict=True)
        )

    candidates = tuple(
        replace(c, relevance=raised(c.tool, [situation.path[at] for at in c.feeds_from], c.relevance))
        for c in situation.candidates
    )
    path = tuple(
        raised(tool, situation.path[:at] if tool.required else (), situation.path_relevance[at])
        for at, tool in enumerate(situation.path)
    )
    return replace(situation, candidates=candidates, path_relevance=path)


def _answers_all(taking: Sequence[ToolDoc], clause: str, share: Share) -> bool:
    """Whether the last of some tools speaks of all that a clause asks, in a field of its answer at least once, and they take all that it tells."""
    tool, asked = taking[-1], telling(clause)
    whether = told_only_whether(tool) if wants_value(clause) else frozenset[str]()
    speaking = asked and all(speaks(tool, group) and not group & whether for group in asked)
    known = speaking and any(answers(tool, group) for group in asked)
    return bool(known and tool.safe and atoms(clause)) and share(taking, clause) >= 1.0
