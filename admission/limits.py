"""Limits for reading an untrusted document."""

from dataclasses import dataclass
from typing import Self

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits of the process that reads one document, and of its output.

    Measured: the documents of GitHub (13 MB) and Kubernetes (4 MB) take 235 MiB and 2 s; that of Microsoft Graph (47 MB,
    21,000 operations) takes 825 MiB, and choosing among its operations 5 s.
    """

    document: int = 32 * MIB
    """Bytes of the document."""
    memory: int = 768 * MIB
    """Bytes of the process."""
    cpu: int = 30
    """Seconds of CPU time."""
    seconds: float = 60.0
    """Seconds of wall-clock time."""
    output: int = 24 * MIB
    """Bytes of all tools together."""
    tool: int = 256 * 1024
    """Bytes of one tool; a larger one is left out and reported."""
    operations: int = 500
    """Operations taken from one document."""
    outlined: int = 20_000
    """Operations listed in an outline; all are counted."""

    @classmethod
    def scale(cls, document: int, operations: int) -> Self:
        """Return limits for larger documents or more operations: memory and output grow in proportion."""
        default = cls()
        return cls(
            document=document,
            operations=operations,
            memory=max(default.memory, default.memory * document // default.document),
            output=max(default.output, default.output * operations // default.operations),
        )
