"""Prompts: a constant part from a file, then the variable part, with all text of others behind a fence."""

import asyncio
import secrets
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from agent.llm.client.chat import Message

LONGEST_BLOCK = 40_000
"""Characters of one fenced block: a last resort, as its parts are cut one by one before."""

_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


@dataclass(frozen=True, slots=True)
class Fence:
    """Marks data in a prompt, so that it is not taken for instructions.

    The mark is random and new in each run, so that nobody could know it when the data was written.
    """

    mark: str = field(default_factory=lambda: secrets.token_hex(6))

    def block(self, name: str, text: str) -> str:
        """Fence a text of others, without the mark and without invisible characters."""
        kept = "".join(c for c in text[:LONGEST_BLOCK] if c == "\n" or unicodedata.category(c) not in _DROPPED)
        return f"[[{name} {self.mark}]]\n{kept.replace(self.mark, '')}\n[[end {self.mark}]]"

    def message(self, *parts: str) -> Message:
        """Build the variable part of a prompt as a user message."""
        return Message("user", "\n\n".join((f"The fence is {self.mark}.", *(part for part in parts if part))))


async def instructions(*names: str) -> Message:
    """Load the constant part of a prompt: the files ``agent/prompts/<name>.md``, one after the other."""
    parts = [await asyncio.to_thread(_read, name) for name in names]
    return Message("system", "\n\n".join(parts))


@lru_cache(maxsize=16)
def _read(purpose: str) -> str:
    return (
        (files(__name__.removesuffix(".llm.prompts")) / "prompts" / f"{purpose}.md").read_text(encoding="utf-8").strip()
    )
