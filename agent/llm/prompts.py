"""The prompts: a stable part from a file, then what changes, with everything that others wrote behind a fence."""

import asyncio
import secrets
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from agent.llm.client.chat import Message

LONGEST_BLOCK = 40_000
"""Characters of one fenced part, a last resort: what goes into it is cut piece by piece."""

_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


@dataclass(frozen=True, slots=True)
class Fence:
    """Marks data in a prompt. A mark nobody could have guessed when the data was written, new for every run."""

    mark: str = field(default_factory=lambda: secrets.token_hex(6))

    def block(self, name: str, text: str) -> str:
        """A part that others wrote, without anything that could pass for the fence or for invisible text."""
        kept = "".join(c for c in text[:LONGEST_BLOCK] if c == "\n" or unicodedata.category(c) not in _DROPPED)
        return f"[[{name} {self.mark}]]\n{kept.replace(self.mark, '')}\n[[end {self.mark}]]"

    def message(self, *parts: str) -> Message:
        """The part of a prompt that changes, said by the user."""
        return Message("user", "\n\n".join((f"The fence is {self.mark}.", *(part for part in parts if part))))


async def instructions(*names: str) -> Message:
    """The stable part of a decision's prompt: the files ``agent/prompts/<name>.md``, one after the other."""
    parts = [await asyncio.to_thread(_read, name) for name in names]
    return Message("system", "\n\n".join(parts))


@lru_cache(maxsize=16)
def _read(purpose: str) -> str:
    return (
        (files(__name__.removesuffix(".llm.prompts")) / "prompts" / f"{purpose}.md").read_text(encoding="utf-8").strip()
    )
