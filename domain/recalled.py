"""What long-term memory told at the start of a subtask, as a run's events have it."""

from typing import Literal

from domain.model import Model
from domain.tool import ToolId


class RecalledPath(Model):
    """A request that was served before, its path, and its likeness to this one (cosine, values left out). ``id``: the memory's.

    ``good`` and ``bad``: how often its path had served, or failed, a later request when it was recalled.
    """

    id: str = ""
    request: str
    path: tuple[ToolId, ...]
    similarity: float
    good: int = 0
    bad: int = 0


class MemoryRecalled(Model):
    """What long-term memory holds of requests like this one, the most alike first. ``note``: why it could not be asked."""

    kind: Literal["memory.recalled"] = "memory.recalled"
    memories: tuple[RecalledPath, ...]
    note: str = ""
