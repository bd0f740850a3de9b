"""What a run has carried out, as a program: the one that served it, or its calls as one, with what of it may be another value next time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.plans.compiling import compiled
from agent.plans.from_run import Offered, drawn
from agent.plans.lifting import Liftable, liftable, lifted
from agent.plans.request_template import Words, spoken
from agent.plans.standing import standing_of
from agent.text import clean
from agent.transcript import Transcript
from domain.errors import NotLinearError, UsageError
from domain.event import EventRecord
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a run has done. ``carried_out``: as a program; ``liftable``: what of its text may be another value next time. ``document``: its steps, where
    steps can say it, else ``why_no_steps``; ``offered``: values in them. ``files``: what its text goes over of what was given with its run, as its user calls it.
    """

    carried_out: ProgramPlan
    liftable: Sequence[Liftable] = ()
    document: PlanDocument | None = None
    offered: Sequence[Offered] = ()
    why_no_steps: str = ""
    files: tuple[str, ...] = ()

    @property
    def plan(self) -> ProgramPlan:
        """The program with inputs for all that may be another value next time."""
        return lifted(self.carried_out, self.liftable)

    def refuse_files(self, what: str) -> None:
        """``UsageError`` where it goes over a file, which only its own run has; ``what`` was to be made of it."""
        if self.files:
            named = ", ".join(clean(one, 80) for one in self.files)
            raise UsageError(
                f"this run goes over a file that was given with it ({named}), and {what} has none: run it again instead, which has the same file"
            )


def generalised(made: Drawn, request: str, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramPlan, str]:
    """The program with inputs for all that its request says, steps' values too, and the request with the names of these in braces."""
    found = made.liftable or liftable(made.carried_out, request, docs)
    return lifted(made.carried_out, found), spoken(request, [Words(one.said, one.name) for one in found])


def carried_out(
    request: str,
    records: Sequence[EventRecord],
    docs: Mapping[ToolId, ToolDoc],
    given: ProgramPlan | None = None,
) -> Drawn:
    """Out of a run's events. ``docs``: of the tools that it called; ``given``: the plan that it was given.

    Raises:
        NotLinearError: neither a program nor steps say it.
    """
    document, offered, why = None, list[Offered](), ""
    try:
        document, offered = drawn(records, docs)
    except NotLinearError as error:
        why = str(error)
    transcript = Transcript.of(records)
    stands = standing_of(transcript) if given is None else None
    if (plan := given or (ProgramPlan(program=stands) if stands is not None else None)) is not None:
        if _builds_on_earlier(plan):
            plan = None
        else:
            found = liftable(plan, request, docs)
            names = parse_source(plan.program.text).uses - plan.inputs.keys() - plan.program.tools.keys()
            files = tuple(one.name for one in transcript.files if one.variable in names)
            return Drawn(plan, found, document, offered, why, files)
    if document is None:
        raise NotLinearError(why)
    return Drawn(compiled(document, docs), (), document, offered)


def _builds_on_earlier(plan: ProgramPlan) -> bool:
    """Whether a text takes values of earlier results: those are of its conversation, and no plan has them."""
    return any(name == "earlier" or name.startswith("earlier_") for name in parse_source(plan.program.text).uses)
