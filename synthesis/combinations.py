"""Combinations of user inputs, a walk and a requested field (SoAy, section 5.1); one program serves each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from domain.tool import Parameter, ToolId
from graph.fuzzy import subsets
from graph.ground import Ground
from graph.identifiers import words
from graph.response_fields import OutputField
from graph.telling import repeats, telling
from graph.vocabulary import IDENTITY
from graph.walks import Walk, walks_over

MOST_CHOICES = 6
"""Choices of inputs that are used for one first tool."""

MOST_OUTPUTS = 20
"""Response fields of one last tool that may be asked for."""

MOST = 2_000
"""Combinations that are mined together at most: of one tool set, or of a whole store."""


@dataclass(frozen=True, slots=True)
class Said:
    """An input of a tool whose value the user states."""

    tool: ToolId
    """The tool that takes the value."""
    parameter: Parameter
    role: str = ""
    """The input of the second tool that this call is made for, where the first tool is called twice; else empty."""
    also: tuple[ToolId, ...] = ()
    """Later tools whose input of the same name takes the same value."""

    def goes_to(self, tool: ToolId) -> bool:
        """Return whether the value fills an input of this tool."""
        return tool == self.tool or tool in self.also

    @property
    def name(self) -> str:
        """Name of the input: ``name``, or ``from_station_name`` where the walk takes two of them."""
        role = "_".join(word for word in words(self.role) if word not in IDENTITY)
        return f"{role}_{self.parameter.name}" if role else self.parameter.name


@dataclass(frozen=True, slots=True)
class Combination:
    """The inputs that a user states, a walk over tools, and the field of the last response that is asked for."""

    walk: Walk
    inputs: tuple[Said, ...]
    output: OutputField | None
    """Field of the last tool's response that is asked for; None where that tool changes something."""

    @property
    def key(self) -> str:
        """Key that identifies the combination within a store, stable over runs."""
        inputs = ",".join(f"{one.tool}?{one.parameter.name}{'@' + one.role if one.role else ''}" for one in self.inputs)
        feeds = ",".join(f"{one.field}>{one.parameter}" for one in self.walk.feeds)
        return f"{inputs}|{'>'.join(self.walk.path)}|{feeds}|{'!' if self.output is None else self.output.path}"


@dataclass(frozen=True, slots=True)
class Combined:
    """The combinations of one walk."""

    combinations: tuple[Combination, ...]
    left_out: int
    """Number of choices of inputs and outputs beyond the limits."""


def combined(walk: Walk, ground: Ground) -> Combined:
    """Build the combinations of a walk, in a stable order."""
    found: list[Combination] = []
    choices = [one for one in subsets(walk.head, ground.service(walk.head)) if not repeats(walk, one, ground)]
    left_out = max(0, len(choices) - MOST_CHOICES)
    for choice in choices[:MOST_CHOICES]:
        inputs = said(walk, choice)
        outputs = telling(walk, choice, ground)
        left_out += max(0, len(outputs) - MOST_OUTPUTS)
        if walk.changes:
            found.append(Combination(walk, inputs, None))
        found += (Combination(walk, inputs, output) for output in islice(outputs, MOST_OUTPUTS))
    return Combined(tuple(found), left_out)


def combinations(ground: Ground) -> Iterator[Combination]:
    """Yield the combinations of all walks, those of the shortest walks first, at most :data:`MOST`."""
    return islice((one for walk in walks_over(ground) for one in combined(walk, ground).combinations), MOST)


def said(walk: Walk, choice: tuple[Parameter, ...]) -> tuple[Said, ...]:
    """List what a user states who gives the first tool these inputs.

    The inputs of each call of the first tool come first, then those that later tools need in addition. A later input
    of the same name takes the same value.
    """
    found = [Said(walk.head.id, one, role) for role in walk.twice or ("",) for one in choice]
    for tool, parameter in walk.asked:
        same = next((at for at, one in enumerate(found) if one.name == parameter.name), None)
        if same is None:
            found.append(Said(tool, parameter))
        else:
            found[same] = replace(found[same], also=(*found[same].also, tool))
    return tuple(found)
