"""Combinations of user inputs, a walk over tools and a requested field (SoAy, section 5.1).

They are mined one tool set at a time, so that a large store never lies in memory as a whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from domain.tool import Parameter, ToolId
from graph.entity_vocabulary import IDENTITY
from graph.feed_graph import FeedGraph
from graph.fuzzy import list_input_subsets
from graph.identifiers import split_words
from graph.informative_fields import is_redundant, select_informative_fields
from graph.response_fields import OutputField
from graph.walks import FeedWalk, find_walks_over

MAX_CHOICES = 6
"""Maximum of choices of inputs for one first tool."""

MAX_OUTPUTS = 20
"""Maximum of response fields of one last tool that are asked for."""

MOST = 2_000
"""Maximum of combinations of one tool set, or of a store that is mined as a whole."""


@dataclass(frozen=True, slots=True)
class UserInput:
    """An input of a tool whose value the user states."""

    tool: ToolId
    """The tool that takes the value."""
    parameter: Parameter
    role: str = ""
    """Input of the second tool that this call of the first tool is for, if that is called twice; else empty."""
    also: tuple[ToolId, ...] = ()
    """Later tools whose input of the same name takes the same value."""

    def fills(self, tool: ToolId) -> bool:
        """Return whether the value fills an input of this tool."""
        return tool == self.tool or tool in self.also

    @property
    def name(self) -> str:
        """Name of the input: ``name``, or ``from_station_name`` if the walk takes two of them."""
        role = "_".join(word for word in split_words(self.role) if word not in IDENTITY)
        return f"{role}_{self.parameter.name}" if role else self.parameter.name


@dataclass(frozen=True, slots=True)
class Combination:
    """Inputs that a user states, a walk over tools, and the field of the last response to ask for."""

    walk: FeedWalk
    inputs: tuple[UserInput, ...]
    output: OutputField | None
    """Field of the last tool's response that is asked for; None where that tool changes something."""

    @property
    def key(self) -> str:
        """Key that identifies the combination within a store, stable over runs."""
        inputs = ",".join(f"{one.tool}?{one.parameter.name}{'@' + one.role if one.role else ''}" for one in self.inputs)
        feeds = ",".join(f"{one.field}>{one.parameter}" for one in self.walk.feeds)
        return f"{inputs}|{'>'.join(self.walk.path)}|{feeds}|{'!' if self.output is None else self.output.path}"


@dataclass(frozen=True, slots=True)
class WalkCombinations:
    """The combinations of one walk."""

    combinations: tuple[Combination, ...]
    left_out: int
    """Number of choices of inputs and outputs beyond the limits."""


def combine_walk(walk: FeedWalk, ground: FeedGraph) -> WalkCombinations:
    """Build the combinations of a walk, in a stable order."""
    result: list[Combination] = []
    choices = [
        one
        for one in list_input_subsets(walk.head, ground.get_service(walk.head))
        if not is_redundant(walk, one, ground)
    ]
    left_out = max(0, len(choices) - MAX_CHOICES)
    for choice in choices[:MAX_CHOICES]:
        inputs = list_user_inputs(walk, choice)
        outputs = select_informative_fields(walk, choice, ground)
        left_out += max(0, len(outputs) - MAX_OUTPUTS)
        if walk.changes:
            result.append(Combination(walk, inputs, None))
        result += (Combination(walk, inputs, output) for output in islice(outputs, MAX_OUTPUTS))
    return WalkCombinations(tuple(result), left_out)


def enumerate_combinations(ground: FeedGraph) -> Iterator[Combination]:
    """Yield the combinations of all walks, those of the shortest walks first, at most :data:`MOST`."""
    return islice((one for walk in find_walks_over(ground) for one in combine_walk(walk, ground).combinations), MOST)


def list_user_inputs(walk: FeedWalk, choice: tuple[Parameter, ...]) -> tuple[UserInput, ...]:
    """List the inputs that a user states for a walk.

    The inputs of each call of the first tool come first, then those that later tools need in addition. A later input of
    the same name takes the same value.

    ``choice``: the inputs of the first tool to state.
    """
    inputs = [UserInput(walk.head.id, one, role) for role in walk.repeated_inputs or ("",) for one in choice]
    for tool, parameter in walk.user_inputs:
        position = next((at for at, one in enumerate(inputs) if one.name == parameter.name), None)
        if position is None:
            inputs.append(UserInput(tool, parameter))
        else:
            inputs[position] = replace(inputs[position], also=(*inputs[position].also, tool))
    return tuple(inputs)
