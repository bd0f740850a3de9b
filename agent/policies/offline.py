"""The policy that needs no model: deterministic, explained, the fallback and the baseline that a model must beat."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from agent.answer import compose
from agent.arguments import WHOLE, bind, fillable
from agent.policies.offline_choice import ChoiceParameters, decide
from agent.policies.offline_fields import telling_fields
from agent.policies.offline_rounds import Call, Prefix, calls, fresh, once_more
from agent.policy import Arguments, ArgumentsQuestion, Choice, Cost, FieldsQuestion, Notice, Situation
from agent.support import bare
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId


class OfflinePolicy:
    """Made for one run, of which it keeps what it worked out: missing inputs, what each tool was chosen for, what is open."""

    name = "offline"

    def __init__(self, parameters: ChoiceParameters | None = None) -> None:
        self.cost = Cost()
        self.notices: list[Notice] = []
        self._parameters = parameters or ChoiceParameters()
        self._missing: dict[tuple[str, ToolId, tuple[ToolId, ...]], frozenset[str]] = {}
        self._purpose: dict[ToolId, str] = {}
        self._calls: dict[Prefix, Call] = {}
        self._unserved: tuple[str, ...] = ()

    async def choose(self, situation: Situation) -> Choice:
        """Weight, availability, relevance and executability decide; see :func:`agent.policies.offline_choice.decide`."""

        def missing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
            key = (situation.request, tool.id, tuple(step.id for step in path))
            if key not in self._missing:
                self._missing[key] = frozenset(fillable(tool, situation.request, path).missing)
            return self._missing[key]

        verdict = once_more(situation, decide(fresh(situation), missing, self._parameters))
        self._unserved = verdict.unserved
        if verdict.choice.action == "finish":
            self._calls = calls(situation, verdict)
        if verdict.choice.index is not None and verdict.purpose:
            self._purpose[situation.candidates[verdict.choice.index].tool.id] = verdict.purpose
        return verdict.choice

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """Values from the part of the request that the tool was chosen for, from earlier results, and from defaults; where
        that part leaves anything open, from the whole request. A part that names no value ("the population of the city")
        gets all it needs from earlier results. A complaint changes nothing: the rules have no second opinion.
        """
        call = self._calls.get((*(tool.id for tool, _ in question.earlier), question.tool.id))
        if call is not None:
            question = replace(question, request=call.part.whole, earlier=call.seen(question.earlier))
        part = call.part.text if call else self._purpose.get(question.tool.id, question.request)
        for text in ("", part) if bare(part) == part else (part,):
            if text != question.request and question.tool.required:
                bound = bind(replace(question, request=text))
                found = all(binding.origin in ("request", "step") for binding in bound.provenance)
                if found and not bound.missing and not any(b.reference == WHOLE for b in bound.provenance):
                    return bound
        return bind(question)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """Fields that speak for themselves by name, by the document's words and by their values."""
        return telling_fields(question)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """The fields of the responses that the request asks about, with the calls they rest on."""
        for piece in compose(request, steps, self._unserved):
            yield piece
