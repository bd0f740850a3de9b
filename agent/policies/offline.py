"""The policy that needs no model: deterministic, explained, the fallback and the baseline that a model must beat."""

from collections.abc import AsyncIterator, Sequence

from agent.answer import compose
from agent.arguments import bind, fillable
from agent.policies.offline_choice import ChoiceParameters, decide
from agent.policy import Arguments, ArgumentsQuestion, Choice, Cost, Situation
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId


class OfflinePolicy:
    """Made for one run, of which it keeps what it worked out about missing inputs, and what was open at its last choice."""

    name = "offline"

    def __init__(self, parameters: ChoiceParameters | None = None) -> None:
        self.cost = Cost()
        self._parameters = parameters or ChoiceParameters()
        self._missing: dict[tuple[str, ToolId, tuple[ToolId, ...]], frozenset[str]] = {}
        self._unserved: tuple[str, ...] = ()

    async def choose(self, situation: Situation) -> Choice:
        """Weight, availability, relevance and executability decide; see :func:`agent.policies.offline_choice.decide`."""

        def missing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
            key = (situation.request, tool.id, tuple(step.id for step in path))
            if key not in self._missing:
                self._missing[key] = frozenset(fillable(tool, situation.request, path).missing)
            return self._missing[key]

        verdict = decide(situation, missing, self._parameters)
        self._unserved = verdict.unserved
        return verdict.choice

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """Values from the request, from earlier results and from defaults; a complaint changes nothing, for there is no
        second opinion: what the rules find is what they found before.
        """
        return bind(question)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """The fields of the responses that the request asks about, with the calls they rest on."""
        for piece in compose(request, steps, self._unserved):
            yield piece
