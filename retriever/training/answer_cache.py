"""Answers of a language model on the disk, a line each: what was paid for once is not asked for again."""

import asyncio
import os
from pathlib import Path

import orjson

from domain.errors import UnavailableError


class AnswerCache:
    """A file of lines ``{"key", "answer"}`` that only grows. A line that was cut off by an interruption counts as missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Read what is there. ``UnavailableError`` where the file cannot be read."""
        self._known = await asyncio.to_thread(self._read)

    def get(self, key: str) -> str | None:
        """The answer's JSON text, if it is known."""
        return self._known.get(key)

    async def put(self, key: str, answer: str) -> None:
        """Keep it; when this returns, it is on the disk."""
        async with self._writing:
            await asyncio.to_thread(self._append, orjson.dumps({"key": key, "answer": answer}))
            self._known[key] = answer

    def _read(self) -> dict[str, str]:
        found: dict[str, str] = {}
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        except OSError as error:
            raise UnavailableError(f"cannot read {self._path}: {error.strerror}") from error
        for line in lines:
            try:
                held = orjson.loads(line)
                found[str(held["key"])] = str(held["answer"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
        return found

    def _append(self, line: bytes) -> None:
        """One write, which begins with an end of line: so a line that was cut off before spoils none after it."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"\n" + line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UnavailableError(f"cannot write {self._path}: {error.strerror}") from error
