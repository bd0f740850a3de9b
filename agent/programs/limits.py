"""Resource limits of programs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits after which a program is ended."""

    seconds: float = 5.0
    """Computing time of one cell; waiting for calls does not count."""
    memory: int = 128_000_000
    """Bytes of all values of a program."""
    workers: int = 4
    """Processes that run programs at the same time; a program that waits for calls soon releases its process."""
    calls: int = 500
    """Calls of one session, whatever their outcome."""
