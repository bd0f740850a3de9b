"""The plan that a run has carried out: the program that served it, or its calls compiled into one."""

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
    """A finished run as a plan."""

    carried_out: ProgramPlan
    """The program as it ran."""
    liftable: Sequence[Liftable] = ()
    """Constants of its text that may have another value next time."""
    document: PlanDocument | None = None
    """The run as steps, if steps can express it."""
    offered: Sequence[Offered] = ()
    """Values in the steps that may become parameters."""
    why_no_steps: str = ""
    """Reason why steps cannot express the run; empty if they can."""
    files: tuple[str, ...] = ()
    """Names, as the user knows them, of attached files that the text reads."""

    @property
    def plan(self) -> ProgramPlan:
        """The program with inputs for everything that may have another value next time."""
        return lifted(self.carried_out, self.liftable)

    def refuse_files(self, what: str) -> None:
        """Raise ``UsageError`` if the program reads a file, since only its own run has it.

        ``what`` names what was to be made of the run, for the message.
        """
        if self.files:
            named = ", ".join(clean(one, 80) for one in self.files)
            raise UsageError(
                f"this run goes over a file that was given with it ({named}), and {what} has none: run it again instead, which has the same file"
            )


def generalised(made: Drawn, request: str, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramPlan, str]:
    """Return the program with inputs for values of its request, and the request with their names in braces.

    Values of steps become inputs, too.
    """
    found = made.liftable or liftable(made.carried_out, request, docs)
    return lifted(made.carried_out, found), spoken(request, [Words(one.said, one.name) for one in found])


def carried_out(
    request: str,
    records: Sequence[EventRecord],
    docs: Mapping[ToolId, ToolDoc],
    given: ProgramPlan | None = None,
) -> Drawn:
    """Build the plan of a run from its events.

    ``docs`` are the documents of the tools that it called; ``given`` is the plan that the run was started with, if
    any.

    Raises:
        NotLinearError: neither a program nor steps can express the run.
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
    """Return True if a text reads earlier results, which no plan can supply: they are of its conversation."""
    return any(name == "earlier" or name.startswith("earlier_") for name in parse_source(plan.program.text).uses)
