"""What the subtasks of one run have in common."""

from dataclasses import dataclass, field

from agent.budget import Meter
from agent.earlier import Earlier
from agent.provenance import Provenance
from agent.resume import Past
from agent.reuse import ReusingExecutor
from agent.run_deps import RunDeps


@dataclass(frozen=True, slots=True)
class Shared:
    """What the subtasks of one run share: what it works with, its account, and the calls that it has made. ``name``: the run's,
    ``request``: what it was asked.

    ``provenance``: where the values of its calls can have come from. ``past``: what the run told before it was broken off. ``earlier``: the runs of its conversation before it.
    """

    deps: RunDeps
    meter: Meter
    executor: ReusingExecutor
    name: str
    provenance: Provenance
    past: Past = field(default_factory=Past)
    earlier: Earlier = field(default_factory=Earlier)
    request: str = ""
