"""Sandbox for programs: pydantic-monty in separate processes, without files, network, clock or randomness."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_monty import FunctionSnapshot, MontyError, MontySession, MontyTypingError

from agent.programs.limits import SandboxLimits
from agent.programs.protocol import Named, Session, Watch
from agent.programs.session import PATIENCE, ProgramSession
from agent.programs.workers import WorkerPool

_NOWHERE = "_not_run_"
"""Undefined name put before a text, so that it never passes the type check and is never run."""
_MOST_STUB_REQUESTS = 50


class MontySandbox:
    """Implements ``protocol.Sandbox``, once per process; its workers start with the first program."""

    def __init__(self, limits: SandboxLimits | None = None, patience: float = PATIENCE) -> None:
        self._limits, self._patience = limits or SandboxLimits(), patience
        self._pool = WorkerPool(self._limits)

    @asynccontextmanager
    async def session(self, watch: Watch | None = None, named: Named | None = None) -> AsyncGenerator[Session]:
        """Open a fresh session, which ends with the block."""
        session = ProgramSession(self._pool, self._limits, self._patience, watch, named)
        try:
            yield session
        finally:
            await session.close()

    async def type_errors(self, text: str, stubs: str) -> tuple[str, ...]:
        """Return the findings of the type check as ``LINE:COLUMN: SEVERITY[RULE] message``, without running the text."""
        worker = await self._pool.worker(stubs)
        try:
            return _in_text(await worker.do(lambda: _diagnostics(worker.session, text)))
        finally:
            await worker.give_back()

    async def close(self) -> None:
        """End all workers."""
        await asyncio.to_thread(self._pool.close)


def _diagnostics(session: MontySession, text: str) -> str:
    """Type-check a text in a worker, and return the diagnostics."""
    try:
        snapshot = session.feed_start(f"{_NOWHERE}\n{text}", inputs={})
        # Before the check, the sandbox asks for the declarations of modules that it does not have.
        for _ in range(_MOST_STUB_REQUESTS):
            if not (isinstance(snapshot, FunctionSnapshot) and snapshot.is_os_function):
                break
            snapshot = snapshot.resume_not_handled()
    except MontyTypingError as error:
        return error.display()
    except MontyError:
        return ""  # it does not parse, or the worker died: the check of its tree, or its run, will tell
    return ""


def _in_text(diagnostics: str) -> tuple[str, ...]:
    """Return the diagnostics of the text itself, with its own line numbers."""
    found: list[str] = []
    for line in diagnostics.splitlines():
        file, _, rest = line.partition(":")
        row, _, told = rest.partition(":")
        # Line 1 is the undefined name before the text.
        if file.endswith(".py") and row.isdigit() and int(row) > 1:
            found.append(f"{int(row) - 1}:{told}")
    return tuple(found)
