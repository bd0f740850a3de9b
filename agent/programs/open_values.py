"""Values that a plan leaves open: arguments found by the policy, list items by words of the request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic.types import JsonValue

from agent.execution.execute import TRIES
from agent.execution.validation import validate
from agent.plans.json_place import ITEM, named_in
from agent.policy.protocol import Arguments, ArgumentsQuestion, Policy, Results
from agent.programs.analysis.flow import feeds
from agent.programs.stops import NAMED
from domain.errors import InvalidArgumentsError
from domain.plan import Binding
from domain.program import Program
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class OpenValues:
    """Finds open arguments for one subtask."""

    request: str
    policy: Policy
    given: Results = ()
    """Steps that the subtask builds on."""

    async def found(self, tool: ToolDoc, known: Arguments, left: Sequence[str], earlier: Results) -> Arguments:
        """Return a call's arguments with values for those in ``left``, asking again if what is found does not fit.

        ``missing`` names those without a value; ``why`` explains that, or why the values do not fit. References to steps are counted over
        ``given`` and then ``earlier``.
        """
        complaint, made, found = "", known, known
        for _ in range(TRIES):
            question = ArgumentsQuestion(self.request, tool, (*self.given, *earlier), complaint=complaint)
            found = await self.policy.decide(question)
            before, made = made, _together(tool, known, found, left)
            # Asking again with the same complaint is of no use once the answer no longer changes.
            if made.missing or (complaint and made.values == before.values):
                break
            try:
                return Arguments(validate(tool, made.values), made.provenance)
            except InvalidArgumentsError as error:
                complaint = str(error)
        why = _nothing_for(tool, made.missing, found.why) if made.missing else complaint
        return Arguments(made.values, made.provenance, made.missing, why=why)


def _together(tool: ToolDoc, known: Arguments, found: Arguments, left: Sequence[str]) -> Arguments:
    """Merge known arguments with those found for open parameters; required ones that stay open are missing."""
    values = {name: value for name, value in found.values.items() if name in left and name not in found.missing}
    needed = {parameter.name for parameter in tool.required}
    return Arguments(
        {**known.values, **values},
        (*known.provenance, *(one for one in found.provenance if one.parameter in values)),
        tuple(name for name in left if name in needed and name not in values),
    )


def _nothing_for(tool: ToolDoc, missing: Sequence[str], why: str) -> str:
    """Return the note on a call that lacks values for open parameters."""
    named = ", ".join(f"`{name}`" for name in missing)
    return f"No value was found for {named} of {tool.api}, which the plan leaves open. {why}".strip()


def counted(bindings: Sequence[Binding], numbers: Sequence[int]) -> tuple[Binding, ...]:
    """Replace the step numbers in origins: the n-th step becomes the n-th of ``numbers``."""
    return tuple(_counted(one, numbers) for one in bindings)


def _counted(binding: Binding, numbers: Sequence[int]) -> Binding:
    """Replace the step number in one origin, if it refers to a step."""
    step, dot, field = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or not 0 < int(step) <= len(numbers):
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step) - 1]}{dot}{field}"})


class NamedItems:
    """Chooses the list items that ``named(…)`` stands for in a program.

    If a change takes its values from an item, only one that the request really names is accepted.
    """

    def __init__(self, request: str, program: Program, docs: Mapping[str, ToolDoc]) -> None:
        self._request = request
        self._program = program
        self._docs = docs

    def __call__(self, items: JsonValue, place: int, back: int) -> JsonValue:
        """Choose an item; see ``protocol.Named``."""
        takers = [] if back else self._takers.get(place)
        # A text of an earlier cell is not analysed: any change among the functions may take the item.
        only_named = any(not self._docs[name].safe for name in (self._docs if takers is None or back else takers))
        if not isinstance(items, list):
            raise LookupError(f"`{NAMED}(…)` takes a list, and what it was given is none")
        found = named_in(items, ITEM, self._request, only_named=only_named)
        if found is None:
            of = f" of {', '.join(f'`{name}`' for name in takers)}" if takers else ""
            why = "the list is empty" if not items else "the request names none of the items, or several"
            raise LookupError(f"which item is meant is open{of}: {why}. Say which one the plan is to take")
        return found[1]

    @cached_property
    def _takers(self) -> dict[int, list[str]]:
        """Functions that take values of each ``named(…)``, by its place in the text; empty if the text cannot be read."""
        own = self._program.model_copy(update={"tools": {**self._program.tools, NAMED: ToolId("")}})
        pairs = feeds({0: own}).pairs
        found = {call.start: call.name for call in parse_source(own.text).calls if call.name in own.tools}
        takers: dict[int, list[str]] = {place: [] for place, name in found.items() if name == NAMED}
        for place, names in takers.items():
            # One chosen item may be passed to another `named(…)`: follow it to the calls in the end.
            left, seen = [place], {place}
            while left:
                one = left.pop()
                for source, target in pairs:
                    if source[1] == one and target[1] not in seen:
                        seen.add(target[1])
                        left += [target[1]] if found[target[1]] == NAMED else []
                        names += [found[target[1]]] if found[target[1]] in self._docs else []
        return takers
