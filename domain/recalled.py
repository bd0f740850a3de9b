"""The memories recalled at the start of a subtask, as an event of the run."""

from typing import Literal

from domain.model import Model
from domain.tool import ToolId


class RecalledPath(Model):
    """A request that was served before, with its path."""

    id: str = ""
    """Id of the memory."""
    request: str
    path: tuple[ToolId, ...]
    similarity: float
    """Cosine similarity to this request, both with their values left out."""
    good: int = 0
    """How often the path had served a later request when it was recalled."""
    bad: int = 0
    """How often the path had failed a later request when it was recalled."""


class MemoryRecalled(Model):
    """Memories of requests like this one, the most similar first."""

    kind: Literal["memory.recalled"] = "memory.recalled"
    memories: tuple[RecalledPath, ...]
    note: str = ""
    """Why the memory could not be searched."""
