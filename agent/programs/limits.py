"""How much a program may take before it is ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """``seconds``: of computing in one cell; waiting for calls does not count. ``memory``: bytes of all its values. ``workers``: processes
    that run programs at the same time; one that waits for its calls soon leaves its own to others. ``calls``: in a session, whatever their
    outcome.
    """

    seconds: float = 5.0
    memory: int = 128_000_000
    workers: int = 4
    calls: int = 500
