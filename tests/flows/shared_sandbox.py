"""One sandbox for the tests of a process that run one program at a time: its worker is started once."""

from functools import cache

from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox


@cache
def sandbox() -> MontySandbox:
    """With one worker; it ends with the process."""
    return MontySandbox(SandboxLimits(workers=1))
