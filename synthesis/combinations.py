"""Combinations: what a user says, a walk, and what is asked for (SoAy, section 5.1). Each is an intention that one program serves."""

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
"""Choices of inputs of one head that are taken."""

MOST_OUTPUTS = 20
"""Fields of one tail that are asked for."""

MOST = 2_000
"""Combinations of tools that are mined together: of a tool set, in a whole store."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a user says for one input of a tool. ``role``: the input of the second tool that this call of a head called twice is for.

    ``also``: later tools whose input of the same name takes the same value.
    """

    tool: ToolId
    parameter: Parameter
    role: str = ""
    also: tuple[ToolId, ...] = ()

    def goes_to(self, tool: ToolId) -> bool:
        """Whether it fills an input of a tool."""
        return tool == self.tool or tool in self.also

    @property
    def name(self) -> str:
        """A name for it: ``name``; ``from_station_name`` where there are two of them."""
        role = "_".join(word for word in words(self.role) if word not in IDENTITY)
        return f"{role}_{self.parameter.name}" if role else self.parameter.name


@dataclass(frozen=True, slots=True)
class Combination:
    """``output``: the field of the tail's answer that is asked for; None where the tail changes something."""

    walk: Walk
    inputs: tuple[Said, ...]
    output: OutputField | None

    @property
    def key(self) -> str:
        """What tells it from all others of a store, the same in every run."""
        inputs = ",".join(f"{one.tool}?{one.parameter.name}{'@' + one.role if one.role else ''}" for one in self.inputs)
        feeds = ",".join(f"{one.field}>{one.parameter}" for one in self.walk.feeds)
        return f"{inputs}|{'>'.join(self.walk.path)}|{feeds}|{'!' if self.output is None else self.output.path}"


@dataclass(frozen=True, slots=True)
class Combined:
    """The combinations of a walk. ``left_out``: choices of inputs and outputs beyond what is taken of one."""

    combinations: tuple[Combination, ...]
    left_out: int


def combined(walk: Walk, ground: Ground) -> Combined:
    """The combinations of a walk, in a stable order."""
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
    """The combinations of tools by walk, at most :data:`MOST`; those of the shortest walks first."""
    return islice((one for walk in walks_over(ground) for one in combined(walk, ground).combinations), MOST)


def said(walk: Walk, choice: tuple[Parameter, ...]) -> tuple[Said, ...]:
    """What a user says who gives a head these inputs: they, for each of its calls, and what later tools need besides."""
    found = [Said(walk.head.id, one, role) for role in walk.twice or ("",) for one in choice]
    for tool, parameter in walk.asked:
        same = next((at for at, one in enumerate(found) if one.name == parameter.name), None)
        if same is None:
            found.append(Said(tool, parameter))
        else:
            found[same] = replace(found[same], also=(*found[same].also, tool))
    return tuple(found)
