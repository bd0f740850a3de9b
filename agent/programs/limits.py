"""Resource limits of programs in the sandbox."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one program, which is ended when it exceeds them."""

    seconds: float = 5.0
    """Computing time of one cell; waiting for calls does not count."""
    memory: int = 128_000_000
    """Bytes that all values of a program may take."""
    workers: int = 4
    """Maximum number of processes; a program that waits for calls soon releases its process."""
    calls: int = 500
    """Calls that one session may make, whatever their outcome."""
