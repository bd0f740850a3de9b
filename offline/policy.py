"""The policy that needs no model: deterministic and explained; the fallback for models, and their baseline."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from agent.learning.run_lesson import score_steps
from agent.memory.path_reuse import MIN_REUSE_SIMILARITY
from agent.offer.candidates import ToolCandidate
from agent.policy.decider import Decider
from agent.policy.protocol import (
    AdoptionQuestion,
    ArgumentsQuestion,
    CallArguments,
    DecomposeQuestion,
    Decomposition,
    FieldsQuestion,
    MoveQuestion,
    NextMove,
    PathAdoption,
    PathQuestion,
    PhraseQuestion,
    PolicyCost,
    PolicyNotice,
    Reflection,
    ReflectionQuestion,
    ScoreQuestion,
    UnservedQuestion,
    WholePath,
    build_single_subtask,
)
from agent.programs.program_types import ProgramQuestion, WrittenProgram
from agent.solutions.protocol import ChosenSolution, FilledSolution, FillQuestion, SolutionQuestion
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from offline.change_orders import find_unmet_orders
from offline.choice import ChoiceParameters, PolicyMove, decide, find_purpose, is_out_of_turn
from offline.coverage import ValueUsage, strip_values
from offline.field_selection import select_fields
from offline.follow_up import decompose_follow_up, narrow_steps
from offline.memory_vote import MissingFinder, decide_adoption, find_remembered_move
from offline.planning_time import PlanningTurns, TimedPlanning
from offline.repeated_calls import (
    CallPurpose,
    PathPrefix,
    add_repeated_call,
    drop_called_candidates,
    find_call_purposes,
)
from offline.sentences.author import write_program
from offline.slots.binding import WHOLE_REQUEST, bind, check_fillable, may_mean_another
from offline.solution_reuse import adapt_solution, fill_inputs
from offline.template_answer import compose
from offline.toolset_prior import choose_by_toolset


@dataclass(slots=True)
class _SubtaskState:
    """What has been worked out for one subtask."""

    uses: ValueUsage
    """Which values of the subtask's request tools use."""
    purposes: dict[ToolId, str] = field(default_factory=dict[ToolId, str])
    """The clause that each tool was chosen for."""
    calls: dict[PathPrefix, CallPurpose] = field(default_factory=dict[PathPrefix, CallPurpose])
    """The purpose of each call of a finished path, by the path up to it."""
    tried: dict[PathPrefix, tuple[CallArguments, ...]] = field(
        default_factory=dict[PathPrefix, tuple[CallArguments, ...]]
    )
    """Arguments that were bound for a call so far, by the path up to it."""
    unserved: tuple[str, ...] = ()
    """Clauses that the path does not serve."""
    finished: bool = False
    """True if the last move finished the path."""


class OfflinePolicy(Decider):
    """The policy of one run, by rules.

    Its state is held by subtask, since subtasks may run concurrently.
    """

    name = "offline"
    can_write_programs = True

    def __init__(self, parameters: ChoiceParameters | None = None, planning: TimedPlanning | None = None) -> None:
        self._planning = planning or PlanningTurns().create_planning("")
        self.cost = PolicyCost()
        self.notices: list[PolicyNotice] = []
        self._parameters = parameters or ChoiceParameters()
        self._missing: dict[tuple[str, ToolId, tuple[ToolId, ...]], frozenset[str]] = {}
        self._states: dict[str, _SubtaskState] = {}

    def _get_state(self, request: str) -> _SubtaskState:
        """Return the state of a subtask, by its description."""
        if request not in self._states:
            self._states[request] = _SubtaskState(ValueUsage(request))
        return self._states[request]

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """Resolve what the request means after earlier questions; rules never split a request."""
        return decompose_follow_up(question) or build_single_subtask(question.request, "rules keep a request whole")

    async def choose(self, situation: MoveQuestion) -> NextMove:
        """Choose a move by relevance, availability, weight and inputs; see :func:`offline.choice.decide`."""

        def find_missing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
            key = (situation.request, tool.id, tuple(step.id for step in path))
            if key not in self._missing:
                self._missing[key] = frozenset(check_fillable(tool, situation.request, path).missing)
            return self._missing[key]

        open_situation, state = drop_called_candidates(situation), self._get_state(situation.request)
        toolset_choice = choose_by_toolset(open_situation, find_missing)
        move = (
            PolicyMove(toolset_choice, "", ())
            if toolset_choice
            else self._decide_move(open_situation, find_missing, state)
        )
        verdict = add_repeated_call(situation, move)
        state.unserved, state.finished = verdict.unserved, verdict.choice.action == "finish"
        if state.finished:
            state.calls = find_call_purposes(situation, verdict)
        if verdict.choice.index is not None and verdict.purpose:
            state.purposes[situation.candidates[verdict.choice.index].tool.id] = verdict.purpose
        return verdict.choice

    def _decide_move(self, situation: MoveQuestion, find_missing: MissingFinder, state: _SubtaskState) -> PolicyMove:
        """Return the rules' own move, unless memory has a better one."""
        share = state.uses.measure_share
        own = decide(situation, find_missing, self._parameters, share)
        remembered_move = find_remembered_move(situation, find_missing)
        if (
            remembered_move is None
            or not remembered_move.can_overrule(own.choice)
            or is_out_of_turn(situation, remembered_move.choice, own.choice)
        ):
            return own
        at = remembered_move.choice.index
        if at is None or len(situation.clauses) < 2:
            return PolicyMove(remembered_move.choice, "", ())
        return PolicyMove(remembered_move.choice, find_purpose(situation, situation.candidates[at].relevance), ())

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """Continue a path as it is: these same rules chose its steps, and would choose them again."""
        if question.path and question.ending != "gave_up":
            return Reflection("success", "every step was taken because it can be called and serves the request")
        return Reflection("total", f"no path was found: {question.reason}")

    async def adopt(self, proposal: AdoptionQuestion) -> PathAdoption:
        """Adopt a known path if it can be walked here and now and changes nothing that the request does not order."""
        return decide_adoption(proposal)

    async def plan_path(self, question: PathQuestion) -> WholePath:
        """Return the steps that :meth:`choose` would take over these candidates alone."""
        return await walk_candidates(question, self.choose)

    async def fill(self, question: FillQuestion) -> FilledSolution:
        """Fill a solution's inputs by the words that differ, and by the types of the inputs."""
        return fill_inputs(question)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        """Choose the nearest solution if it is nearly identical apart from its values."""
        nearest = max((one.likeness for one in question.solutions), default=0.0)
        if nearest < MIN_REUSE_SIMILARITY:
            return ChosenSolution(None, reason=f"none of them is near enough: the likeness is {nearest:.2f} at most")
        place = next(place for place, one in enumerate(question.solutions) if one.likeness == nearest)
        return ChosenSolution(place, reason=f"it serves what is asked, with a likeness of {nearest:.2f}")

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """Write a program; an empty one leaves the planning to the search.

        A solution that was chosen comes first, with this request's values. Otherwise it is the sentence of the grammar
        that says what the request says, compiled (:mod:`offline.sentences`).
        """
        if text := adapt_solution(question):
            return WrittenProgram(text)
        return await self._planning.run_work(write_program, question)

    async def phrase(self, question: PhraseQuestion) -> str:
        """Return the answer unchanged."""
        return question.answer

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        """Bind arguments from the request, from earlier results and from defaults.

        The part of the request that the tool was chosen for is tried first, then the whole request. A part that names
        no value ("the population of the city") gets everything from earlier results. After a complaint the next best
        names of the request are bound; if there are none, the arguments stay as they were.
        """
        prefix = (*(tool.id for tool, _ in question.earlier), question.tool.id)
        state = self._get_state(question.request)
        tried = state.tried.get(prefix, ()) if question.complaint else ()
        arguments = self._bind_arguments(question, prefix, state) if not tried else _bind_other_names(question, tried)
        state.tried[prefix] = (*tried, arguments)
        return arguments

    def _bind_arguments(self, question: ArgumentsQuestion, prefix: PathPrefix, state: _SubtaskState) -> CallArguments:
        """Bind arguments from the narrowest part of the request that fills all required inputs."""
        call = state.calls.get(prefix)
        if call is not None:
            question = replace(
                question, request=call.part.whole_request, earlier=call.hide_other_parts(question.earlier)
            )
        part = call.part.text if call else state.purposes.get(question.tool.id, question.request)
        # A part without values is first bound as an empty request, so that earlier results alone fill it.
        for text in ("", part) if strip_values(part) == part else (part,):
            if text != question.request and question.tool.required:
                bound = bind(replace(question, request=text))
                is_grounded = all(binding.origin in ("request", "step") for binding in bound.provenance)
                if (
                    is_grounded
                    and not bound.missing
                    and not any(b.reference == WHOLE_REQUEST for b in bound.provenance)
                ):
                    return bound
        return bind(question)

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """Find the clauses that order a change which an offered tool could have made and no call made."""
        return find_unmet_orders(question.clauses, question.available, question.done)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """Select the fields of a response that are informative by name, by the tool's document and by their values."""
        return select_fields(question)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Yield the parts of the responses that the request asks about, with the calls that they come from."""
        for piece in compose(request, narrow_steps(request, steps), self._list_unserved()):
            yield piece

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """Score the steps by the rules of :mod:`agent.learning.run_lesson`."""
        done, failed = ([result for _, result in part] for part in (question.steps, question.failed))
        return score_steps(done, failed, answered=question.answered)

    def _list_unserved(self) -> tuple[str, ...]:
        """List the clauses that no step serves; failed subtasks are reported by the run itself."""
        states = [worked for worked in self._states.values() if worked.finished or len(self._states) == 1]
        return tuple(dict.fromkeys(clause for worked in states for clause in worked.unserved))


def _bind_other_names(question: ArgumentsQuestion, tried: tuple[CallArguments, ...]) -> CallArguments:
    """Bind other names of the request than those of calls that failed; the last arguments again if there are none.

    The person in whose name a change is made is never exchanged.
    """
    avoid = frozenset(
        (binding.parameter, str(made.values[binding.parameter]))
        for made in tried
        for binding in made.provenance
        if binding.origin == "request" and may_mean_another(question.tool, binding.parameter)
    )
    rebound = bind(question, avoided=avoid) if avoid else tried[-1]
    return tried[-1] if rebound.missing or any(b.reference == WHOLE_REQUEST for b in rebound.provenance) else rebound


async def walk_candidates(question: PathQuestion, choose: Callable[[MoveQuestion], Awaitable[NextMove]]) -> WholePath:
    """Plan a path over these candidates alone, one ``choose`` after another, without going back."""
    chosen: list[int] = []
    reason = "no tool at hand serves the request"
    while True:
        remaining = [
            at for at in range(len(question.candidates)) if at not in chosen and len(chosen) < question.max_steps
        ]
        situation = _build_situation(question, chosen, remaining)
        choice = await choose(situation)
        if choice.action != "advance" or choice.index is None:
            reason = choice.reason if choice.action == "finish" or not chosen else reason
            return WholePath(tuple(chosen), reason)
        chosen.append(remaining[choice.index])
        reason = choice.reason


def _build_situation(question: PathQuestion, chosen: Sequence[int], remaining: Sequence[int]) -> MoveQuestion:
    """Build the situation after the chosen candidates, as the search would present it."""
    new = [question.candidates[at] for at in chosen]
    path = (*question.path, *(candidate.tool for candidate in new))
    return MoveQuestion(
        request=question.request,
        clauses=question.clauses,
        path=path,
        path_relevance=(*question.path_relevance, *(candidate.relevance for candidate in new)),
        best_relevance=question.best_relevance,
        candidates=tuple(_update_candidate(question.candidates[at], question.request, path) for at in remaining),
        finish_weight=0.0,
        memory=question.memory,
    )


def _update_candidate(candidate: ToolCandidate, request: str, path: tuple[ToolDoc, ...]) -> ToolCandidate:
    """Return a candidate with the inputs that stay missing after a path."""
    fill = check_fillable(candidate.tool, request, path)
    return replace(candidate, missing=fill.missing, feeds=fill.feeds)
