"""What the subtasks of one run have in common."""

from dataclasses import dataclass, field

from agent.budget import Meter
from agent.resume import Past
from agent.reuse import ReusingExecutor
from agent.run_deps import RunDeps


@dataclass(frozen=True, slots=True)
class Shared:
    """What the subtasks of one run share: what it works with, its account, and the calls that it has made. ``name``: the run's.

    ``past``: what the run told before it was broken off.
    """

    deps: RunDeps
    meter: Meter
    executor: ReusingExecutor
    name: str
    past: Past = field(default_factory=Past)
