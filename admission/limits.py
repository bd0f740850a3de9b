"""How much the reading of one stranger's document may take."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """``memory``: bytes of the process that reads. ``cpu``, ``seconds``: of computing, and by the clock. ``output``: bytes of all tools
    together, ``tool``: of one. ``operations``: in one document.
    """

    document: int = 8 * MIB
    memory: int = 768 * MIB
    cpu: int = 20
    seconds: float = 40.0
    output: int = 24 * MIB
    tool: int = 256 * 1024
    operations: int = 1_000
