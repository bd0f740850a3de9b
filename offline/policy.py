"""The policy that needs no model: deterministic and explained; the fallback, and the baseline for models."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from agent.learning.step_scores import scores
from agent.memory.path_reuse import IDENTICAL
from agent.offer.candidates import Candidate
from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion, ScoreQuestion
from agent.policy.protocol import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    Cost,
    FieldsQuestion,
    Notice,
    PathQuestion,
    PhraseQuestion,
    Situation,
    UnservedQuestion,
    WholePath,
)
from agent.policy.question import Decider
from agent.policy.subtasks import DecomposeQuestion, Decomposition, whole
from agent.programs.protocol import ProgramQuestion, WrittenProgram
from agent.solutions.protocol import ChosenSolution, Filled, FillQuestion, SolutionQuestion
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from offline.after_solution import after_solution
from offline.change_words import unmet
from offline.choice import ChoiceParameters, Verdict, decide, out_of_turn, purpose_of
from offline.coverage import Uses, bare
from offline.field_selection import telling_fields
from offline.follow_up import followed, narrowed_to
from offline.memory_vote import Missing, adoptable, remembered
from offline.planning_time import PlanningTurns, TimedPlanning
from offline.repeated_calls import Call, Prefix, calls, fresh, once_more
from offline.sentences.author import written
from offline.slots.binding import WHOLE, bind, fillable, may_mean_another
from offline.solution_fill import fill
from offline.template_answer import compose
from offline.toolset_prior import kindred


@dataclass(slots=True)
class _Worked:
    """Intermediate results for one subtask."""

    uses: Uses
    purpose: dict[ToolId, str] = field(default_factory=dict[ToolId, str])
    """The clause that each tool was chosen for."""
    calls: dict[Prefix, Call] = field(default_factory=dict[Prefix, Call])
    """Purposes of the calls of a finished path, by the path up to each."""
    tried: dict[Prefix, tuple[Arguments, ...]] = field(default_factory=dict[Prefix, tuple[Arguments, ...]])
    """Arguments that were given for a call before, by the path up to it."""
    unserved: tuple[str, ...] = ()
    """Clauses that the path does not serve."""
    finished: bool = False


class OfflinePolicy(Decider):
    """The policy of one run. What it works out is held for each subtask, since subtasks may run concurrently."""

    name = "offline"
    writes = True

    def __init__(self, parameters: ChoiceParameters | None = None, planning: TimedPlanning | None = None) -> None:
        self._planning = planning or PlanningTurns().of("")
        self.cost = Cost()
        self.notices: list[Notice] = []
        self._parameters = parameters or ChoiceParameters()
        self._missing: dict[tuple[str, ToolId, tuple[ToolId, ...]], frozenset[str]] = {}
        self._worked: dict[str, _Worked] = {}

    def _of(self, request: str) -> _Worked:
        """Return the state of a subtask, by its description."""
        if request not in self._worked:
            self._worked[request] = _Worked(Uses(request))
        return self._worked[request]

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """Resolve what the request means after earlier questions; rules never split a request."""
        return followed(question) or whole(question.request, "rules keep a request whole")

    async def choose(self, situation: Situation) -> Choice:
        """Choose a move by weight, availability, relevance and executability; see :func:`offline.choice.decide`."""

        def missing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
            key = (situation.request, tool.id, tuple(step.id for step in path))
            if key not in self._missing:
                self._missing[key] = frozenset(fillable(tool, situation.request, path).missing)
            return self._missing[key]

        now, worked = fresh(situation), self._of(situation.request)
        known = kindred(now, missing)
        found = Verdict(known, "", ()) if known else self._found(now, missing, worked)
        verdict = once_more(situation, found)
        worked.unserved, worked.finished = verdict.unserved, verdict.choice.action == "finish"
        if worked.finished:
            worked.calls = calls(situation, verdict)
        if verdict.choice.index is not None and verdict.purpose:
            worked.purpose[situation.candidates[verdict.choice.index].tool.id] = verdict.purpose
        return verdict.choice

    def _found(self, situation: Situation, missing: Missing, worked: _Worked) -> Verdict:
        """Return the rules' own move, unless memory has a better one."""
        share = worked.uses.share
        own = decide(situation, missing, self._parameters, share)
        known = remembered(situation, missing)
        if known is None or not known.overrules(own.choice) or out_of_turn(situation, known.choice, own.choice):
            return own
        at = known.choice.index
        if at is None or len(situation.clauses) < 2:
            return Verdict(known.choice, "", ())
        return Verdict(known.choice, purpose_of(situation, situation.candidates[at].relevance), ())

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """Continue a path as it is: these same rules chose its steps, and would choose them again."""
        if question.path and question.how != "gave_up":
            return Reflection("success", "every step was taken because it can be called and serves the request")
        return Reflection("total", f"no path was found: {question.reason}")

    async def adopt(self, proposal: Proposal) -> Adoption:
        """Adopt a known path if it can be walked here and now and changes nothing that the request does not order."""
        return adoptable(proposal)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """Return the steps that :meth:`choose` would take over these candidates alone."""
        return await walked(question, self.choose)

    async def fill(self, question: FillQuestion) -> Filled:
        """Fill a solution's inputs by the words that differ, and by the types of the inputs."""
        return fill(question)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        """Choose the nearest solution if it is nearly identical apart from its values."""
        nearest = max((one.likeness for one in question.solutions), default=0.0)
        if nearest < IDENTICAL:
            return ChosenSolution(None, reason=f"none of them is near enough: the likeness is {nearest:.2f} at most")
        place = next(place for place, one in enumerate(question.solutions) if one.likeness == nearest)
        return ChosenSolution(place, reason=f"it serves what is asked, with a likeness of {nearest:.2f}")

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Write a program, or return none: then the search plans.

        The chosen solution's program comes first, with this request's values. Otherwise it is the sentence of the
        grammar that says what the request says, compiled (:mod:`offline.sentences`).
        """
        if text := after_solution(question):
            return WrittenProgram(text)
        return await self._planning.work(written, question)

    async def phrase(self, question: PhraseQuestion) -> str:
        """Return the answer unchanged."""
        return question.answer

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """Bind arguments from the part of the request that the tool was chosen for, earlier results and defaults.

        If that part leaves anything open, the whole request is used. A part that names no value ("the population of
        the city") gets all it needs from earlier results. After a complaint the request's next best names are tried;
        without any, nothing changes.
        """
        prefix = (*(tool.id for tool, _ in question.earlier), question.tool.id)
        worked = self._of(question.request)
        tried = worked.tried.get(prefix, ()) if question.complaint else ()
        found = self._bound(question, prefix, worked) if not tried else _another(question, tried)
        worked.tried[prefix] = (*tried, found)
        return found

    def _bound(self, question: ArgumentsQuestion, prefix: Prefix, worked: _Worked) -> Arguments:
        """Bind arguments from the narrowest part of the request that fills all of them."""
        call = worked.calls.get(prefix)
        if call is not None:
            question = replace(question, request=call.part.whole, earlier=call.seen(question.earlier))
        part = call.part.text if call else worked.purpose.get(question.tool.id, question.request)
        # A part without values is first bound as an empty request, so that earlier results alone fill it.
        for text in ("", part) if bare(part) == part else (part,):
            if text != question.request and question.tool.required:
                bound = bind(replace(question, request=text))
                found = all(binding.origin in ("request", "step") for binding in bound.provenance)
                if found and not bound.missing and not any(b.reference == WHOLE for b in bound.provenance):
                    return bound
        return bind(question)

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """Find the clauses that order a change which an offered tool would have made."""
        return unmet(question.clauses, question.at_hand, question.done)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """Select fields that are telling by name, by the document's words and by their values."""
        return telling_fields(question)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Yield the fields of the responses that the request asks about, with the calls they come from."""
        for piece in compose(request, narrowed_to(request, steps), self._open()):
            yield piece

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """Score the steps by the rules of :mod:`agent.learning.step_scores`."""
        done, failed = ([result for _, result in part] for part in (question.steps, question.failed))
        return scores(done, failed, answered=question.answered)

    def _open(self) -> tuple[str, ...]:
        """List the clauses that no step serves; the run itself names subtasks that failed as a whole."""
        told = [worked for worked in self._worked.values() if worked.finished or len(self._worked) == 1]
        return tuple(dict.fromkeys(clause for worked in told for clause in worked.unserved))


def _another(question: ArgumentsQuestion, tried: tuple[Arguments, ...]) -> Arguments:
    """Bind other names of the request than those of calls that failed; the last arguments if there are none.

    The person in whose name a change is made stays as the request says.
    """
    avoid = frozenset(
        (binding.parameter, str(made.values[binding.parameter]))
        for made in tried
        for binding in made.provenance
        if binding.origin == "request" and may_mean_another(question.tool, binding.parameter)
    )
    found = bind(question, avoid=avoid) if avoid else tried[-1]
    return tried[-1] if found.missing or any(b.reference == WHOLE for b in found.provenance) else found


async def walked(question: PathQuestion, choose: Callable[[Situation], Awaitable[Choice]]) -> WholePath:
    """Take the steps that ``choose`` takes, each judged by what those before it give; there is no way back."""
    taken: list[int] = []
    reason = "no tool at hand serves the request"
    while True:
        left = [at for at in range(len(question.candidates)) if at not in taken and len(taken) < question.longest]
        situation = _situation(question, taken, left)
        choice = await choose(situation)
        if choice.action != "advance" or choice.index is None:
            reason = choice.reason if choice.action == "finish" or not taken else reason
            return WholePath(tuple(taken), reason)
        taken.append(left[choice.index])
        reason = choice.reason


def _situation(question: PathQuestion, taken: Sequence[int], left: Sequence[int]) -> Situation:
    """Build the situation after the chosen candidates, as the search would present it."""
    new = [question.candidates[at] for at in taken]
    path = (*question.path, *(candidate.tool for candidate in new))
    return Situation(
        request=question.request,
        clauses=question.clauses,
        path=path,
        path_relevance=(*question.path_relevance, *(candidate.relevance for candidate in new)),
        best_relevance=question.best_relevance,
        candidates=tuple(_behind(question.candidates[at], question.request, path) for at in left),
        finish_weight=0.0,
        memory=question.memory,
    )


def _behind(candidate: Candidate, request: str, path: tuple[ToolDoc, ...]) -> Candidate:
    """Return a candidate with the inputs that stay missing after a path."""
    fill = fillable(candidate.tool, request, path)
    return replace(candidate, missing=fill.missing, feeds=fill.feeds)
