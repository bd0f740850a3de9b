"""Combinations of user inputs, a walk over tools and a requested field (SoAy, section 5.1).

They are mined one tool set at a time, so that a large store never lies in memory as a whole.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from domain.tool import Parameter, ToolDoc, ToolId
from graph.entity_vocabulary import IDENTITY
from graph.feed_graph import FeedGraph
from graph.fuzzy import list_input_subsets
from graph.identifiers import split_words
from graph.informative_fields import is_redundant, select_informative_fields
from graph.response_fields import OutputField
from graph.walks import FeedWalk, find_walks_over

MAX_INPUT_CHOICES = 6
"""Maximum of choices of inputs for one first tool."""

MAX_OUTPUTS = 20
"""Maximum of response fields of one last tool that are asked for."""

MAX_COMBINATIONS = 2_000
"""Maximum of combinations of one tool set, or of a store that is mined as a whole."""


@dataclass(frozen=True, slots=True)
class UserInput:
    """An input of a tool whose value the user states."""

    tool: ToolId
    """The tool that takes the value."""
    parameter: Parameter
    role: str = ""
    """Input of the second tool that this call of the first tool is for, if that is called twice; else empty."""
    shared_by: tuple[ToolId, ...] = ()
    """Later tools whose input of the same name takes the same value."""

    def fills(self, tool: ToolId) -> bool:
        """Return whether the value fills an input of this tool."""
        return tool == self.tool or tool in self.shared_by

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
        inputs = ",".join(
            f"{item.tool}?{item.parameter.name}{'@' + item.role if item.role else ''}" for item in self.inputs
        )
        feeds = ",".join(f"{item.field}>{item.parameter}" for item in self.walk.feeds)
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
        choice
        for choice in list_input_subsets(walk.head, ground.get_service(walk.head))
        if not is_redundant(walk, choice, ground)
    ]
    left_out = max(0, len(choices) - MAX_INPUT_CHOICES)
    for choice in choices[:MAX_INPUT_CHOICES]:
        inputs = list_user_inputs(walk, choice)
        outputs = select_informative_fields(walk, choice, ground)
        left_out += max(0, len(outputs) - MAX_OUTPUTS)
        if walk.changes:
            result.append(Combination(walk, inputs, None))
        result += (Combination(walk, inputs, output) for output in islice(outputs, MAX_OUTPUTS))
    return WalkCombinations(tuple(result), left_out)


def enumerate_combinations(ground: FeedGraph) -> Iterator[Combination]:
    """Yield the combinations of all walks, those of the shortest walks first, at most :data:`MAX_COMBINATIONS`."""
    return islice(
        (combination for walk in find_walks_over(ground) for combination in combine_walk(walk, ground).combinations),
        MAX_COMBINATIONS,
    )


def list_user_inputs(walk: FeedWalk, choice: tuple[Parameter, ...]) -> tuple[UserInput, ...]:
    """List the inputs that a user states for a walk.

    The inputs of each call of the first tool come first, then those that later tools need in addition. A later input of
    the same name takes the same value.

    ``choice``: the inputs of the first tool to state.
    """
    inputs = [UserInput(walk.head.id, item, role) for role in walk.repeated_inputs or ("",) for item in choice]
    for tool, parameter in walk.user_inputs:
        position = next((index for index, item in enumerate(inputs) if item.name == parameter.name), None)
        if position is None:
            inputs.append(UserInput(tool, parameter))
        else:
            inputs[position] = replace(inputs[position], shared_by=(*inputs[position].shared_by, tool))
    return tuple(inputs)


@dataclass
class MiningCounts:
    """Counts of what was mined."""

    toolsets: int = 0
    tools: int = 0
    heads: int = 0
    """Number of tools that a walk can begin with."""
    walks: Counter[int] = field(default_factory=Counter[int])
    """Number of walks by their number of tools."""
    changing: int = 0
    """Number of walks whose last tool changes something."""
    combinations: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    """Number of walks and combinations beyond the limits, by kind."""

    def add(self, other: "MiningCounts") -> None:
        """Add the counts of another."""
        self.toolsets += other.toolsets
        self.tools += other.tools
        self.heads += other.heads
        self.changing += other.changing
        self.combinations += other.combinations
        self.walks.update(other.walks)
        self.left_out.update(other.left_out)


@dataclass(frozen=True, slots=True)
class MinedToolset:
    """The combinations of one tool set, those of the shortest walks first."""

    id_prefix: str
    """Prefix of the ids of the set's tools; a store is ordered by it."""
    combinations: tuple[Combination, ...]
    counts: MiningCounts


async def mine_toolsets(
    documents: AsyncIterator[ToolDoc], after: str = "", toolset: str = ""
) -> AsyncIterator[MinedToolset]:
    """Yield the combinations of each tool set, in the order of a store's documents.

    Args:
        documents: documents ordered by id.
        after: id prefix of the last tool set to skip, because it is done already.
        toolset: name of the only tool sets to mine; empty for all.
    """
    async for id_prefix, tools in group_by_toolset(documents):
        if (not after or f"{id_prefix}/" > f"{after}/") and toolset in ("", tools[0].toolset):
            yield mine_toolset(id_prefix, tools)


def mine_toolset(id_prefix: str, tools: list[ToolDoc]) -> MinedToolset:
    """Mine the combinations of one tool set."""
    feed_graph = FeedGraph(tools)
    counts = MiningCounts(toolsets=1, tools=len(tools), heads=len(feed_graph.find_fuzzy_tools()))
    collected: list[Combination] = []
    for walk in find_walks_over(feed_graph):
        if len(collected) >= MAX_COMBINATIONS:
            counts.left_out["walks"] += 1
            continue
        walk_combinations = combine_walk(walk, feed_graph)
        accepted = walk_combinations.combinations[: MAX_COMBINATIONS - len(collected)]
        counts.left_out["combinations"] += (
            walk_combinations.left_out + len(walk_combinations.combinations) - len(accepted)
        )
        counts.walks[len(walk.tools)] += bool(accepted)
        counts.changing += bool(accepted) and walk.changes
        collected += accepted
    counts.combinations = len(collected)
    return MinedToolset(id_prefix, tuple(collected), counts)


async def group_by_toolset(documents: AsyncIterator[ToolDoc]) -> AsyncIterator[tuple[str, list[ToolDoc]]]:
    """Yield the id prefix and the documents of each tool set. ``documents`` must be ordered by id."""
    id_prefix = ""
    group: list[ToolDoc] = []
    async for document in documents:
        own_prefix = document.id.rpartition("/")[0]
        if own_prefix != id_prefix and group:
            yield id_prefix, group
            group = []
        id_prefix = own_prefix
        group.append(document)
    if group:
        yield id_prefix, group
