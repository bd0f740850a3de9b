"""Programs that served similar requests before, as the author of a program is shown them."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """Program of a stored solution."""

    serves: str
    """Request of its kind, with the names of its inputs in braces."""
    inputs: Mapping[str, JsonObject]
    """JSON Schemas of the inputs."""
    text: str
    tainted: bool = False
    """Its program was tainted, which taints what is written after it."""


@dataclass(frozen=True, slots=True)
class Known:
    """Programs or a path that the author can follow."""

    programs: tuple[KnownProgram, ...] = ()
    """Programs, best first."""
    chosen: bool = False
    """The program was chosen as the one to follow."""
    path: tuple[str, ...] = ()
    """Names of functions that were proposed to be called, in order, if no program was chosen."""

    @property
    def tainted(self) -> bool:
        """True if a text that is written with these in view is tainted."""
        return any(one.tainted for one in self.programs)


NOTHING = Known()
