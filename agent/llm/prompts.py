"""Prompts: a constant part from a file, then the variable part, with all text of others behind a fence."""

import asyncio
import secrets
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from agent.llm.client.chat import ChatMessage

MAX_BLOCK_CHARS = 40_000
"""Characters of one fenced block: a last resort, as its parts are cut one by one before."""

_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of invisible characters, which could hide instructions from a human reader."""


@dataclass(frozen=True, slots=True)
class PromptFence:
    """Marks data in a prompt, so that it is not taken for instructions.

    The mark is random and new in each run, so that nobody could know it when the data was written.
    """

    mark: str = field(default_factory=lambda: secrets.token_hex(6))

    def render_block(self, name: str, text: str) -> str:
        """Fence a text of others, without the mark and without invisible characters."""
        visible = "".join(
            character
            for character in text[:MAX_BLOCK_CHARS]
            if character == "\n" or unicodedata.category(character) not in _DROPPED_CATEGORIES
        )
        return f"[[{name} {self.mark}]]\n{visible.replace(self.mark, '')}\n[[end {self.mark}]]"

    def build_message(self, *parts: str) -> ChatMessage:
        """Build the variable part of a prompt as a user message."""
        return ChatMessage("user", "\n\n".join((f"The fence is {self.mark}.", *(part for part in parts if part))))


async def load_instructions(*names: str) -> ChatMessage:
    """Load the constant part of a prompt: the files ``agent/prompts/<name>.md``, one after the other."""
    parts = [await asyncio.to_thread(_read_file, name) for name in names]
    return ChatMessage("system", "\n\n".join(parts))


@lru_cache(maxsize=16)
def _read_file(name: str) -> str:
    return (files(__name__.removesuffix(".llm.prompts")) / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
