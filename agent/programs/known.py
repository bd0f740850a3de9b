"""What the author of a program is shown of programs that served such requests before."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """A solution's program. ``serves``: a request of its kind, the names of its inputs in braces; ``inputs``: their JSON Schemas.

    ``tainted``: as of its program; so is what is written after it was shown.
    """

    serves: str
    inputs: Mapping[str, JsonObject]
    text: str
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """``programs``: best first. ``chosen``: there is one, and it was chosen as that to write after. ``path``: names of functions that were proposed
    to be called, in order, where none was.
    """

    programs: tuple[KnownProgram, ...] = ()
    chosen: bool = False
    path: tuple[str, ...] = ()

    @property
    def tainted(self) -> bool:
        """Whether a text that is written with them in view is."""
        return any(one.tainted for one in self.programs)


NOTHING = Known()
