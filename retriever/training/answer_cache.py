"""Cache of a language model's answers on disk, so that no answer is paid for twice."""

import asyncio
import os
from pathlib import Path

import orjson

from domain.errors import UnavailableError


class AnswerCache:
    """Append-only file of lines ``{"key", "answer"}``; a line cut off by an interruption counts as missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Read the file, if there is one. Raises ``UnavailableError``."""
        self._known = await asyncio.to_thread(self._read)

    def get(self, key: str) -> str | None:
        """Return the answer's JSON text, or None if it is not cached."""
        return self._known.get(key)

    async def put(self, key: str, answer: str) -> None:
        """Store an answer; when this returns, it is on disk."""
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
        """Append a line in one write that begins with an end of line, so that a cut-off line before it spoils nothing."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"\n" + line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UnavailableError(f"cannot write {self._path}: {error.strerror}") from error
