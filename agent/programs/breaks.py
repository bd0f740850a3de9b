"""Errors of the sandbox as messages that the author of a program can act on."""

from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

from agent.programs.limits import SandboxLimits
from agent.programs.protocol import Broken

PRINTED = 100_000
"""Maximum number of bytes that a cell may print; nobody reads them."""

_LONGEST = 2_000
_ENDED = "suspension limit"


def broken(error: MontyError, limits: SandboxLimits, file: str) -> Broken:
    """Convert an error of the sandbox.

    ``file``: the name of the cell in the sandbox, by which its own lines are found.
    """
    if isinstance(error, MontyCrashedError):
        return _crashed(error, limits)
    inner = error.exception()
    kind, message = type(inner).__name__, str(inner)[:_LONGEST]
    line = _line(error, file)
    if isinstance(inner, TimeoutError):
        return Broken(kind, f"it computed for more than {limits.seconds:g} seconds: do less in one program", line, True)
    if isinstance(inner, MemoryError):
        told = f"it took more than {limits.memory} bytes, or printed more than {PRINTED}: keep only what is needed"
        return Broken(kind, told, line, True)
    if kind == "RuntimeError" and message.startswith(_ENDED):
        return Broken(kind, "it made too many calls, or asked too often for what is not there", line, True)
    return Broken(kind, message, line)


def too_many_calls(limits: SandboxLimits) -> Broken:
    """Return the error of a program that makes more calls than it may."""
    return Broken("RuntimeError", f"it made more than {limits.calls} calls: narrow down what is called for", lost=True)


def _crashed(error: MontyCrashedError, limits: SandboxLimits) -> Broken:
    """Convert a crash of the worker process, which may be a timeout."""
    if error.timed_out:
        told = f"it did not end within {limits.seconds:g} seconds and was stopped: do less in one program"
        return Broken("TimeoutError", told, lost=True)
    return Broken("Crashed", f"the process that ran it died ({error}): write it more simply", lost=True)


def _line(error: MontyError, file: str) -> int:
    """Return the line of the innermost frame in the cell itself; 0 if unknown."""
    if not isinstance(error, (MontyRuntimeError, MontySyntaxError)):
        return 0
    return next((frame.line for frame in reversed(error.traceback()) if frame.filename == file), 0)
