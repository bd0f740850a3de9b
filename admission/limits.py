"""How much the reading of one stranger's document may take."""

from dataclasses import dataclass
from typing import Self

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds of the process that reads one document, and of what it gives.

    Measured: GitHub's (13 MB) and Kubernetes' (4 MB) documents take 235 MiB and 2 s, that of Microsoft Graph (47 MB, 21,000 operations)
    825 MiB, of which a choice takes 5 s.
    """

    document: int = 32 * MIB
    """Bytes of the document."""
    memory: int = 768 * MIB
    """Bytes of the process."""
    cpu: int = 30
    """Seconds of computing."""
    seconds: float = 60.0
    """Seconds by the clock."""
    output: int = 24 * MIB
    """Bytes of all tools together."""
    tool: int = 256 * 1024
    """Bytes of one tool; one that is larger is left out, and reported."""
    operations: int = 500
    """Operations that are taken from one document."""
    outlined: int = 20_000
    """Operations that an outline names; all are counted."""

    @classmethod
    def scaled(cls, document: int, operations: int) -> Self:
        """Return limits for larger documents or more operations than the usual: what they need grows with them."""
        usual = cls()
        return cls(
            document=document,
            operations=operations,
            memory=max(usual.memory, usual.memory * document // usual.document),
            output=max(usual.output, usual.output * operations // usual.operations),
        )
