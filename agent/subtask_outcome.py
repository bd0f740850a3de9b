"""Result of one subtask: its steps, its outcome, and what it leaves unserved."""

from pydantic.types import JsonValue

from agent.execution.provenance import Provenance
from agent.offer.tool_facts import Evidence
from agent.outcome import undone, unmade, unreplaced
from agent.policy.protocol import Policy
from agent.policy.subtasks import Subtask
from agent.request_reader import Review
from agent.step_notes import why
from agent.step_numbers import Carried
from agent.subtask_progress import Progress
from agent.text import title
from domain.event import CallFinished, Event, Outcome
from domain.origin import ValueKind
from domain.plan import StepResult
from domain.program import Answered
from domain.tool import ToolDoc, ToolId

_OF_VERDICTS: dict[Answered, Outcome] = {"yes": "answered", "partly": "partly", "no": "gave_up"}

_NEAR = 0.9
"""Share of the best relevance from which a tool counts as fitting equally well."""
_MOST_ADVISED = 2
"""Limit of tools whose missing settings are reported."""
_UNCHANGED = "a change that it takes was not made"


class SubtaskOutcome:
    """A subtask with its progress so far, and the judgement of it."""

    def __init__(
        self,
        subtask: Subtask,
        evidence: Evidence,
        progress: Progress,
        provenance: Provenance,
        policy: Policy,
        given: tuple[tuple[ToolDoc, StepResult], ...] = (),
    ) -> None:
        self.subtask = subtask
        self.evidence = evidence
        self.progress = progress
        self.policy = policy
        self.given = given
        self._provenance = provenance

    def noted(self, event: Event) -> None:
        """Record an event, and the values of a response: the next call may use them."""
        self.progress.note(event)
        if isinstance(event, CallFinished) and self.evidence.has(event.result.tool):
            self._provenance.hear(self.evidence.doc(event.result.tool), event.result)

    def whence(self, tool: ToolId, parameter: str, value: JsonValue) -> tuple[ValueKind, str]:
        """Return the kind of origin that a value of a call really has, and its place in an earlier run's response."""
        return self._provenance.reference(self.evidence.doc(tool), parameter, value)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the subtask as it stands."""
        progress = self.progress
        if progress.by_program:
            return self._by_program
        if self.progress.done_already:
            return "gave_up" if self.undone else "answered"
        if progress.meter.exhausted and (
            progress.stuck or progress.ended is None or progress.ended.how in ("budget", "open")
        ):
            return "budget"
        if progress.stuck and progress.stuck[1].status == "skipped" and not progress.meter.may_change:
            return "budget"
        if progress.stuck or not progress.done or progress.ended is None or progress.ended.how != "finished":
            return "answered" if self._none_there else "gave_up"
        if progress.chosen:
            return "answered"
        review = self.review
        beside = review.about_another or review.beside_the_point
        lacking = self.unmade or self.undone or beside or unreplaced(progress, self.evidence)
        if lacking:
            return "gave_up"
        return "partly" if review.not_sifted else "answered"

    @property
    def _none_there(self) -> str:
        """Name of the tool whose empty result answers the request, if nothing else was done or is missing; else empty."""
        if self.progress.by_program or self.progress.done or self.unmade or self.undone:
            return ""
        return self.review.none_there

    @property
    def _by_program(self) -> Outcome:
        """The outcome if a program served the subtask, or broke off for good."""
        progress = self.progress
        if progress.program is not None:
            return _OF_VERDICTS[progress.program.verdict]
        denied = any(result.status == "skipped" for result in progress.done.values())
        return "budget" if progress.meter.exhausted or (denied and not progress.meter.may_change) else "gave_up"

    @property
    def served(self) -> bool:
        """Return whether there are results that dependent subtasks may use."""
        return self.outcome in ("answered", "partly")

    @property
    def undone(self) -> tuple[str, ...]:
        """Parts of the request that the path or the requested changes leave out.

        Empty for a program, which reports them itself.
        """
        if self.progress.by_program:
            return ()
        return undone(self.progress, self.evidence, self.policy)

    @property
    def review(self) -> Review:
        """Comparison of the request with the calls that were made for it."""
        made = self.done if self.progress.by_program else (*self.done, *self.failed)
        steps = tuple((self.evidence.doc(result.tool), result) for result in made)
        return self.evidence.reader.review(self.subtask.description, steps, tuple(self.given))

    @property
    def unmade(self) -> tuple[ToolDoc, ...]:
        """Tools of planned changes that were not made."""
        return unmade(self.progress, self.evidence)

    @property
    def done(self) -> list[StepResult]:
        """Results of the subtask's own steps, in order."""
        return [self.progress.done[step] for step in sorted(self.progress.done)]

    @property
    def failed(self) -> list[StepResult]:
        """Abandoned steps; of each tool, one per status with which it failed."""
        return list({(result.tool, result.status): result for result in self.progress.failed}.values())

    def carried(self) -> Carried:
        """Return the steps executed so far, for numbering them."""
        return Carried(self.subtask.number, self.subtask.depends_on, self.progress.done, len(self.subtask.earlier))

    def step(self, number: int) -> tuple[ToolDoc, StepResult]:
        """Return one of the subtask's own steps, with its tool."""
        result = self.progress.done[number]
        return self.evidence.doc(result.tool), result

    def failure_message(self) -> str:
        """Explain why there is no answer, what was tried and what was considered."""
        ended, stuck = self.progress.ended, self.progress.stuck
        if none := self._none_there:
            return f"There are none: {none} gave an empty list.\n"
        if self.progress.by_program:
            done, writes = self.progress.done.values(), self.progress.writes
            refused = any(one.status == "skipped" and one.tool in writes for one in done)
            return self.progress.failure_message(_UNCHANGED if refused else self.why_not, (), self._settings())
        reason = ended.reason if ended else "the path search did not end"
        if stuck is not None and stuck[1].status == "skipped":
            # The report of changes already gives the reason of a refused change.
            reason = stuck[1].note if self.evidence.doc(stuck[1].tool).safe else _UNCHANGED
        failed = [(self.evidence.doc(result.tool), result) for result in (*self.done, *self.failed)]
        return self.progress.failure_message(reason, failed, self._settings())

    def _settings(self) -> list[str]:
        """Describe the settings missing for tools that fit about as well as the best start candidate."""
        known = [tool for tool in self.progress.starts if self.evidence.has(tool)]
        fit = {tool: max(self.evidence.relevance(tool), default=0.0) for tool in known}
        near = [tool for tool, value in fit.items() if value >= _NEAR * max(fit.values())]
        lacking = [(title(self.evidence.doc(tool)), self.evidence.advice(tool)) for tool in near]
        lines = [f"To call {name}: {'; '.join(advice)}." for name, advice in lacking if advice]
        return lines[:_MOST_ADVISED]

    @property
    def why_not(self) -> str:
        """The reason why the subtask is not answered, from its program or its search."""
        progress = self.progress
        if progress.by_program:
            denied = [result.note for result in progress.done.values() if result.status in ("skipped", "unknown")]
            end, broken = progress.program, progress.broken
            if end is not None:
                return end.missing or end.veto or end.answer
            used_up = progress.meter.exhausted
            return denied[0] if denied else used_up or (broken.error if broken else "its program did not end")
        stuck = self.progress.stuck
        if stuck is not None:
            return why(stuck[1])
        return self.progress.ended.reason if self.progress.ended else "its path search did not end"
