"""How much the reading of what an administrator imports may take."""

from dataclasses import dataclass

from admission.limits import MIB


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """``memory``: bytes of the process that reads; ``cpu``, ``seconds``: of computing, and by the clock; ``file``: bytes of one that it writes; ``files``: in an archive, which
    have ``unpacked`` bytes together.
    """

    memory: int = 2048 * MIB
    cpu: int = 1800
    seconds: float = 3600.0
    file: int = 4096 * MIB
    files: int = 200_000
    unpacked: int = 8192 * MIB
