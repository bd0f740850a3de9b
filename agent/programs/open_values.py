"""What a plan leaves open, found when its program comes to it: values by the run's policy, items of lists by the words of the request."""

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
    """Of one subtask. ``given``: the steps that it builds on."""

    request: str
    policy: Policy
    given: Results = ()

    async def found(self, tool: ToolDoc, known: Arguments, left: Sequence[str], earlier: Results) -> Arguments:
        """A call's arguments with values for those that are ``left`` open. ``missing``: what there is none for; ``why``: then, and where what is
        found does not fit. References are counted over ``given`` and ``earlier``.
        """
        complaint, made, found = "", known, known
        for _ in range(TRIES):
            question = ArgumentsQuestion(self.request, tool, (*self.given, *earlier), complaint=complaint)
            found = await self.policy.decide(question)
            before, made = made, _together(tool, known, found, left)
            if made.missing or (complaint and made.values == before.values):
                break
            try:
                return Arguments(validate(tool, made.values), made.provenance)
            except InvalidArgumentsError as error:
                complaint = str(error)
        why = _nothing_for(tool, made.missing, found.why) if made.missing else complaint
        return Arguments(made.values, made.provenance, made.missing, why=why)


def _together(tool: ToolDoc, known: Arguments, found: Arguments, left: Sequence[str]) -> Arguments:
    values = {name: value for name, value in found.values.items() if name in left and name not in found.missing}
    needed = {parameter.name for parameter in tool.required}
    return Arguments(
        {**known.values, **values},
        (*known.provenance, *(one for one in found.provenance if one.parameter in values)),
        tuple(name for name in left if name in needed and name not in values),
    )


def _nothing_for(tool: ToolDoc, missing: Sequence[str], why: str) -> str:
    named = ", ".join(f"`{name}`" for name in missing)
    return f"No value was found for {named} of {tool.api}, which the plan leaves open. {why}".strip()


def counted(bindings: Sequence[Binding], numbers: Sequence[int]) -> tuple[Binding, ...]:
    """Origins whose steps are counted by ``numbers`` instead of by their places."""
    return tuple(_counted(one, numbers) for one in bindings)


def _counted(binding: Binding, numbers: Sequence[int]) -> Binding:
    step, dot, field = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or not 0 < int(step) <= len(numbers):
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step) - 1]}{dot}{field}"})


class NamedItems:
    """The items that ``named(…)`` stands for in a program. Where a change takes its values from one, only an item that the request really names will do."""

    def __init__(self, request: str, program: Program, docs: Mapping[str, ToolDoc]) -> None:
        self._request = request
        self._program = program
        self._docs = docs

    def __call__(self, items: JsonValue, place: int, back: int) -> JsonValue:
        """See ``protocol.Named``."""
        takers = [] if back else self._takers.get(place)
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
        """The functions that take values of each ``named(…)``, by its place in the text; nothing of a text that cannot be read."""
        own = self._program.model_copy(update={"tools": {**self._program.tools, NAMED: ToolId("")}})
        pairs = feeds({0: own}).pairs
        found = {call.start: call.name for call in parse_source(own.text).calls if call.name in own.tools}
        takers: dict[int, list[str]] = {place: [] for place, name in found.items() if name == NAMED}
        for place, names in takers.items():
            left, seen = [place], {place}
            while left:
                one = left.pop()
                for source, target in pairs:
                    if source[1] == one and target[1] not in seen:
                        seen.add(target[1])
                        left += [target[1]] if found[target[1]] == NAMED else []
                        names += [found[target[1]]] if found[target[1]] in self._docs else []
        return takers
