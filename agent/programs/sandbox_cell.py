"""Run a cell in its worker from stop to stop; its calls are recorded, to be made by the runner."""

import builtins
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic.types import JsonValue
from pydantic_monty import (
    CollectString,
    FunctionSnapshot,
    FutureSnapshot,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
    NameLookupSnapshot,
)
from pydantic_monty import ExternalSettledResult as Settled
from pydantic_monty import SyncSnapshot as Snapshot

from agent.programs.builtin_functions import ASK_PARAMETERS
from agent.programs.program_types import (
    ASK,
    CallFailure,
    CellStop,
    ItemChooser,
    LineWatcher,
    LookRequest,
    PendingCalls,
    ProgramError,
    ReturnedValue,
    SandboxCall,
    SandboxLimits,
)
from agent.programs.program_values import (
    NoJsonError,
    from_program_value,
    to_json_arguments,
    to_program_value,
    to_shown_value,
)

MAX_PRINTED_BYTES = 100_000
"""Maximum number of bytes that a cell may print; the output is discarded."""

_MAX_MESSAGE = 2_000
_SUSPENSION_LIMIT = "suspension limit"
"""Beginning of the sandbox's message when a program stops too often."""


def to_program_error(error: MontyError, limits: SandboxLimits, cell_file: str) -> ProgramError:
    """Convert an error of the sandbox.

    ``cell_file``: file name of the cell in tracebacks, by which the line of the error is found.
    """
    if isinstance(error, MontyCrashedError):
        return _to_crash_error(error, limits)
    inner = error.exception()
    kind, message = type(inner).__name__, str(inner)[:_MAX_MESSAGE]
    line = _find_error_line(error, cell_file)
    if isinstance(inner, TimeoutError):
        return ProgramError(
            kind, f"it computed for more than {limits.seconds:g} seconds: do less in one program", line, True
        )
    if isinstance(inner, MemoryError):
        reason = f"it took more than {limits.memory} bytes, or printed more than {MAX_PRINTED_BYTES}: keep only what is needed"
        return ProgramError(kind, reason, line, True)
    if kind == "RuntimeError" and message.startswith(_SUSPENSION_LIMIT):
        return ProgramError(kind, "it made too many calls, or asked too often for what is not there", line, True)
    return ProgramError(kind, message, line)


def build_call_limit_error(limits: SandboxLimits) -> ProgramError:
    """Return the error of a program that has made more calls than the limit."""
    return ProgramError(
        "RuntimeError", f"it made more than {limits.calls} calls: narrow down what is called for", lost=True
    )


def _to_crash_error(error: MontyCrashedError, limits: SandboxLimits) -> ProgramError:
    """Convert a crash of the worker process, which may be a timeout."""
    if error.timed_out:
        reason = f"it did not end within {limits.seconds:g} seconds and was stopped: do less in one program"
        return ProgramError("TimeoutError", reason, lost=True)
    return ProgramError("Crashed", f"the process that ran it died ({error}): write it more simply", lost=True)


def _find_error_line(error: MontyError, cell_file: str) -> int:
    """Return the line of the innermost frame in the cell itself; 0 if unknown."""
    if not isinstance(error, (MontyRuntimeError, MontySyntaxError)):
        return 0
    return next((frame.line for frame in reversed(error.traceback()) if frame.filename == cell_file), 0)


LOOK = "look"
"""Function that ends a cell and shows its arguments."""
FILL = "fill"
"""Function that leaves an argument of a call open; its value is found when the program reaches the call."""
NAMED = "named"
"""Function that returns the item of a list that the request names."""
WATCH = "_at_line_"
"""Function by which an instrumented text reports a line and values of variables; it is no call of a tool."""

_LOOK_ERROR = "KeyboardInterrupt"
"""Error that is raised in a cell to end it at a look: one that a program is unlikely to catch."""
_CELL_FILE = re.compile(r"<python-input-(\d+)>")
_BUILTIN_NAMES = frozenset(dir(builtins))


@dataclass(slots=True)
class SandboxCell:
    """A running cell."""

    limits: SandboxLimits
    feed_number: int
    """Number of texts that were fed to the session before it, which is its number in file names of tracebacks."""
    call_count: int
    """Number of calls of the whole session so far."""
    calls: dict[int, SandboxCall]
    """Pending calls by id."""
    snapshot: Snapshot | None = None
    """State at the last stop; None when the cell has failed or ended at a look."""
    watch_line: LineWatcher | None = None
    """Receives the lines that the text reports."""
    choose_item: ItemChooser | None = None
    """Chooses items for ``named(items)``; None if values may not be left open."""

    def start(self, session: MontySession, text: str, inputs: Mapping[str, JsonValue]) -> CellStop:
        """Run the cell to its first stop."""
        values = {name: to_program_value(value) for name, value in inputs.items()}
        return self._run_to_stop(lambda: session.feed_start(text, inputs=values, print_callback=_collect_output()))

    def resume(self, answers: Mapping[int, JsonValue | CallFailure]) -> CellStop:
        """Continue from a stop with the answers to one or more calls, by their ids."""
        snapshot = self.snapshot
        if not isinstance(snapshot, FutureSnapshot):
            raise RuntimeError("this cell waits for no call")
        for call in answers:
            self.calls.pop(call, None)
        return self._run_to_stop(
            lambda: snapshot.resume({call: _to_settled(answer) for call, answer in answers.items()})
        )

    def dump(self) -> bytes:
        """Save the state at a stop, so that another worker can continue from it."""
        if self.snapshot is None or isinstance(self.snapshot, MontyComplete):
            raise RuntimeError("this cell has ended")
        return self.snapshot.dump()

    def load(self, session: MontySession, state: bytes) -> None:
        """Restore a saved state in a worker's session."""
        self.snapshot = session.load_snapshot(state, print_callback=_collect_output())

    def _run_to_stop(self, take_first_step: Callable[[], Snapshot]) -> CellStop:
        """Take a first step and continue to the next stop; an error of the program is a stop, too."""
        try:
            snapshot = take_first_step()
            while not (stop := self._find_stop(snapshot)):
                snapshot = self._advance(snapshot)
        except MontyError as error:
            self.snapshot = None
            return to_program_error(error, self.limits, f"<python-input-{self.feed_number}>")
        return stop

    def _find_stop(self, snapshot: Snapshot) -> CellStop | None:
        """Return the stop at a snapshot, or None if the cell can continue by itself."""
        self.snapshot = snapshot
        # Checked at every snapshot, because a program can make many calls before it waits for any.
        if self.call_count > self.limits.calls:
            return build_call_limit_error(self.limits)
        if isinstance(snapshot, MontyComplete):
            return _to_returned_value(snapshot)
        if isinstance(snapshot, FutureSnapshot):
            return PendingCalls(tuple(self.calls[call_id] for call_id in sorted(snapshot.pending_call_ids)))
        if isinstance(snapshot, FunctionSnapshot) and snapshot.function_name == LOOK:
            return self._end_at_look(snapshot)
        return None

    def _advance(self, snapshot: Snapshot) -> Snapshot:
        """Continue from a snapshot that is no stop: record a call, or answer one of the sandbox's own functions."""
        if isinstance(snapshot, NameLookupSnapshot):
            return snapshot.resume()
        if not isinstance(snapshot, FunctionSnapshot):
            raise TypeError(f"no program goes on from {type(snapshot).__name__}")
        if snapshot.is_os_function:
            return snapshot.resume_not_handled()
        name = str(snapshot.function_name)
        cell_match = _CELL_FILE.fullmatch(snapshot.position.filename)
        if name in _BUILTIN_NAMES or not cell_match:  # code that the program runs by `eval` must not call tools
            return snapshot.resume({"exc_type": "NameError", "message": f"name '{name}' is not defined here"})
        if name == WATCH and self.watch_line is not None:
            return _report_line(snapshot, self.watch_line)
        if name in (FILL, NAMED) and self.choose_item is not None:
            back = self.feed_number - int(cell_match.group(1))
            return (
                snapshot.resume({"return_value": ...})
                if name == FILL
                else _resume_with_item(snapshot, self.choose_item, back)
            )
        self.call_count += 1
        try:
            call = self._to_sandbox_call(snapshot, name, self.feed_number - int(cell_match.group(1)))
        except (NoJsonError, ValueError) as error:
            return snapshot.resume({"exc_type": "TypeError", "message": f"{name}: {error}"})
        self.calls[call.id] = call
        return snapshot.resume({"future": ...})

    def _to_sandbox_call(self, snapshot: FunctionSnapshot, name: str, back: int) -> SandboxCall:
        """Return the call at a snapshot.

        An argument with the value ``...``, as ``fill()`` returns it, is left open.
        """
        positional = dict(zip(ASK_PARAMETERS, snapshot.args, strict=False)) if name == ASK else {}
        if len(snapshot.args) > len(positional):
            raise NoJsonError("arguments are given by name")
        start, end = snapshot.position.start, snapshot.position.end
        open_names = frozenset(
            name for name, value in snapshot.kwargs.items() if value is ... and self.choose_item is not None
        )
        arguments = positional | {name: value for name, value in snapshot.kwargs.items() if name not in open_names}
        return SandboxCall(snapshot.call_id, name, to_json_arguments(arguments), start, end, back, open_names)

    def _end_at_look(self, snapshot: FunctionSnapshot) -> CellStop:
        """End the cell at a look."""
        try:
            values = tuple(to_shown_value(value) for value in (*snapshot.args, *snapshot.kwargs.values()))
        except ValueError as error:
            return ProgramError("ValueError", str(error), lost=True)
        try:
            # The error must come back uncaught; otherwise the program caught it and would continue.
            snapshot.resume({"exc_type": _LOOK_ERROR, "message": LOOK})
        except MontyRuntimeError as error:
            if type(error.exception()).__name__ == _LOOK_ERROR:
                self.snapshot = None
                return LookRequest(values)
            raise
        return ProgramError("RuntimeError", f"{LOOK}(...) ends a program: do not catch what it raises", lost=True)


def _report_line(snapshot: FunctionSnapshot, watch_line: LineWatcher) -> Snapshot:
    """Report a line to the watcher."""
    line, names = snapshot.args
    watch_line(int(line), {str(name): to_shown_value(value) for name, value in names.items()})
    return snapshot.resume({"return_value": None})


def _resume_with_item(snapshot: FunctionSnapshot, choose_item: ItemChooser, back: int) -> Snapshot:
    """Continue with the item that the request names; raise an error in the program if there is none."""
    try:
        (items,) = snapshot.args
        item = choose_item(from_program_value(items), snapshot.position.start, back)
    except (LookupError, NoJsonError, ValueError) as error:
        return snapshot.resume({"exc_type": "RuntimeError", "message": str(error)})
    return snapshot.resume({"return_value": to_program_value(item)})


def _to_returned_value(complete: MontyComplete) -> ReturnedValue | ProgramError:
    """Return the value of the last expression, or an error if it has no JSON form."""
    try:
        return ReturnedValue(from_program_value(complete.output))
    except (NoJsonError, ValueError) as error:
        return ProgramError("TypeError", f"the last expression cannot be an answer: {error}")


def _to_settled(answer: JsonValue | CallFailure) -> Settled:
    """Return an answer in the form that the sandbox accepts."""
    if isinstance(answer, CallFailure):
        return {"exc_type": "RuntimeError", "message": str(to_program_value(answer.message))}
    return {"return_value": to_program_value(answer)}


def _collect_output() -> CollectString:
    """Return a sink for printed output, which is discarded."""
    return CollectString(max_bytes=MAX_PRINTED_BYTES)
