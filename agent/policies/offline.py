"""The policy that needs no model: deterministic, explained, the fallback and the baseline that a model must beat."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from agent.answer import compose
from agent.arguments import WHOLE, bind, fillable, is_named
from agent.policies.offline_choice import ChoiceParameters, Share, Verdict, decide
from agent.policies.offline_fields import telling_fields
from agent.policies.offline_kin import kindred
from agent.policies.offline_memory import remembered
from agent.policies.offline_path import walked
from agent.policies.offline_rounds import Call, Prefix, calls, fresh, once_more
from agent.policies.offline_uses import Uses
from agent.policy import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    Cost,
    FieldsQuestion,
    Notice,
    PathQuestion,
    Situation,
    WholePath,
)
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
        self._uses: Uses | None = None
        self._tried: dict[Prefix, tuple[Arguments, ...]] = {}
        self._unserved: tuple[str, ...] = ()

    async def choose(self, situation: Situation) -> Choice:
        """Weight, availability, relevance and executability decide; see :func:`agent.policies.offline_choice.decide`."""

        def missing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
            key = (situation.request, tool.id, tuple(step.id for step in path))
            if key not in self._missing:
                self._missing[key] = frozenset(fillable(tool, situation.request, path).missing)
            return self._missing[key]

        now = fresh(situation)
        kin = kindred(now, missing)
        found = Verdict(kin, "", ()) if kin else decide(now, missing, self._parameters, self._share(situation))
        known = None if kin else remembered(now, missing)
        if known and known.overrules(found.choice):
            found = Verdict(known.choice, "", ())
        verdict = once_more(situation, found)
        self._unserved = verdict.unserved
        if verdict.choice.action == "finish":
            self._calls = calls(situation, verdict)
        if verdict.choice.index is not None and verdict.purpose:
            self._purpose[situation.candidates[verdict.choice.index].tool.id] = verdict.purpose
        return verdict.choice

    def _share(self, situation: Situation) -> Share:
        if self._uses is None:
            self._uses = Uses(situation.request)
        return self._uses.share

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """The steps that ``choose`` would take over these candidates alone."""
        return await walked(question, self.choose)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """Values from the part of the request that the tool was chosen for, from earlier results, and from defaults; where
        that part leaves anything open, from the whole request. A part that names no value ("the population of the city")
        gets all it needs from earlier results. After a complaint, the request's next best names are taken; without any, nothing changes.
        """
        prefix = (*(tool.id for tool, _ in question.earlier), question.tool.id)
        tried = self._tried.get(prefix, ()) if question.complaint else ()
        found = self._bound(question, prefix) if not tried else _another(question, tried)
        self._tried[prefix] = (*tried, found)
        return found

    def _bound(self, question: ArgumentsQuestion, prefix: Prefix) -> Arguments:
        call = self._calls.get(prefix)
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


def _another(question: ArgumentsQuestion, tried: tuple[Arguments, ...]) -> Arguments:
    """Other values for the names that a call took from the request and that led to nothing; the last ones where there are no others."""
    avoid = frozenset(
        (binding.parameter, str(made.values[binding.parameter]))
        for made in tried
        for binding in made.provenance
        if binding.origin == "request" and is_named(question.tool, binding.parameter)
    )
    found = bind(question, avoid=avoid) if avoid else tried[-1]
    return tried[-1] if found.missing or any(b.reference == WHOLE for b in found.provenance) else found
