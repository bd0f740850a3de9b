"""Find values that a plan leaves open: arguments by the policy, list items by words of the request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic.types import JsonValue

from agent.execution.step_execution import MAX_ARGUMENT_ANSWERS
from agent.execution.validation import validate_arguments
from agent.plans.json_paths import NAMED_ITEM, find_named_value
from agent.policy.protocol import ArgumentsQuestion, CallArguments, Policy, Results
from agent.programs.analysis.program_flow import find_call_dependencies
from agent.programs.sandbox_cell import NAMED
from domain.errors import InvalidArgumentsError
from domain.plan import Binding
from domain.program import Program
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class OpenValues:
    """Finds the arguments that plans leave open by ``fill()``, for one subtask."""

    request: str
    policy: Policy
    earlier_results: Results = ()
    """Results of earlier steps that the subtask builds on."""

    async def find_arguments(
        self, tool: ToolDoc, given_arguments: CallArguments, open_names: Sequence[str], call_results: Results
    ) -> CallArguments:
        """Return a call's arguments with values for those in ``open_names``.

        The policy is asked again, with the complaint, while its values do not fit the tool's schema. In the result,
        ``missing`` names required arguments without a value, and ``why`` explains that, or why the values do not fit.
        References to steps count the results in ``earlier_results``, then those in ``call_results``.

        Arguments:
            tool: The tool that is called.
            given_arguments: The arguments that the text has values for.
            open_names: The arguments that it leaves open.
            call_results: Results of the program's own calls so far.
        """
        complaint, merged, proposed = "", given_arguments, given_arguments
        for _ in range(MAX_ARGUMENT_ANSWERS):
            question = ArgumentsQuestion(
                self.request, tool, (*self.earlier_results, *call_results), complaint=complaint
            )
            proposed = await self.policy.decide(question)
            previous, merged = merged, _merge_arguments(tool, given_arguments, proposed, open_names)
            # Stop when the policy repeats its answer in spite of the complaint.
            if merged.missing or (complaint and merged.values == previous.values):
                break
            try:
                return CallArguments(validate_arguments(tool, merged.values), merged.provenance)
            except InvalidArgumentsError as error:
                complaint = str(error)
        why = _explain_missing(tool, merged.missing, proposed.reason) if merged.missing else complaint
        return CallArguments(merged.values, merged.provenance, merged.missing, reason=why)


def _merge_arguments(
    tool: ToolDoc, given_arguments: CallArguments, proposed: CallArguments, open_names: Sequence[str]
) -> CallArguments:
    """Add the proposed values of open arguments to the known ones.

    Required ones without a value are missing.
    """
    values = {
        name: value for name, value in proposed.values.items() if name in open_names and name not in proposed.missing
    }
    required_names = {parameter.name for parameter in tool.required}
    return CallArguments(
        {**given_arguments.values, **values},
        (*given_arguments.provenance, *(binding for binding in proposed.provenance if binding.parameter in values)),
        tuple(name for name in open_names if name in required_names and name not in values),
    )


def _explain_missing(tool: ToolDoc, missing: Sequence[str], why: str) -> str:
    """Return the note on a call that lacks values for open parameters."""
    names = ", ".join(f"`{name}`" for name in missing)
    return f"No value was found for {names} of {tool.api}, which the plan leaves open. {why}".strip()


def renumber_references(bindings: Sequence[Binding], numbers: Sequence[int]) -> tuple[Binding, ...]:
    """Replace the step numbers in bindings: a reference to step n becomes one to the n-th of ``numbers``."""
    return tuple(_renumber_reference(binding, numbers) for binding in bindings)


def _renumber_reference(binding: Binding, numbers: Sequence[int]) -> Binding:
    """Replace the step number in one binding, if it refers to a step."""
    step, dot, field = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or not 0 < int(step) <= len(numbers):
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step) - 1]}{dot}{field}"})


class NamedItemChooser:
    """Chooses the list items that ``named(…)`` stands for in a program.

    For a call that only reads, the first item is a fallback. If a value of the item goes into a change, the request
    has to name the item, and only that one.
    """

    def __init__(self, request: str, program: Program, docs: Mapping[str, ToolDoc]) -> None:
        self._request = request
        self._program = program
        self._docs = docs

    def __call__(self, items: JsonValue, place: int, back: int) -> JsonValue:
        """Choose an item; see :data:`agent.programs.program_types.ItemChooser`."""
        consumers = [] if back else self._consumers.get(place)
        # The text of an earlier cell is not at hand, so any change among the functions might take the item.
        only_named = any(not self._docs[name].safe for name in (self._docs if consumers is None or back else consumers))
        if not isinstance(items, list):
            raise LookupError(f"`{NAMED}(…)` takes a list, and what it was given is none")
        chosen = find_named_value(items, NAMED_ITEM, self._request, only_named=only_named)
        if chosen is None:
            consumer_note = f" of {', '.join(f'`{name}`' for name in consumers)}" if consumers else ""
            why = "the list is empty" if not items else "the request names none of the items, or several"
            raise LookupError(f"which item is meant is open{consumer_note}: {why}. Say which one the plan is to take")
        return chosen[1]

    @cached_property
    def _consumers(self) -> dict[int, list[str]]:
        """Functions that each ``named(…)`` feeds, directly or through others, by its place in the text."""
        program = self._program.model_copy(update={"tools": {**self._program.tools, NAMED: ToolId("")}})
        pairs = find_call_dependencies({0: program}).pairs
        calls = {call.start: call.name for call in parse_source(program.text).calls if call.name in program.tools}
        consumers: dict[int, list[str]] = {place: [] for place, name in calls.items() if name == NAMED}
        for place, consumer_names in consumers.items():
            # An item may be passed to another `named(…)`: follow it to the tools that take it in the end.
            pending, seen = [place], {place}
            while pending:
                current = pending.pop()
                for source, target in pairs:
                    if source[1] == current and target[1] not in seen:
                        seen.add(target[1])
                        pending += [target[1]] if calls[target[1]] == NAMED else []
                        consumer_names += [calls[target[1]]] if calls[target[1]] in self._docs else []
        return consumers
