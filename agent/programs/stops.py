"""A running cell in its worker: driven from stop to stop, with its calls recorded but not made."""

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
    MontyError,
    MontyRuntimeError,
    MontySession,
    NameLookupSnapshot,
)
from pydantic_monty import ExternalSettledResult as Settled
from pydantic_monty import SyncSnapshot as Snapshot

from agent.programs.breaks import PRINTED, broken, too_many_calls
from agent.programs.limits import SandboxLimits
from agent.programs.protocol import (
    ASK,
    Broken,
    Failure,
    Looking,
    Named,
    PendingCall,
    Returned,
    Stop,
    Waiting,
    Watch,
)
from agent.programs.questions import PARAMETERS
from agent.programs.values import NoJsonError, arguments, into_program, out_of_program, shown

LOOK = "look"
"""Function that ends a cell and shows its arguments."""
FILL = "fill"
"""Function whose value is left open, and found when the call that it is an argument of is reached."""
NAMED = "named"
"""Function that returns the item of a list that the request names."""
WATCH = "_at_line_"
"""Function by which an instrumented text reports a line and values of names; it is answered at once."""

_LOOKED = "KeyboardInterrupt"
"""Error that ends the cell at a look: one that a program is unlikely to catch, and must not."""
_CELL = re.compile(r"<python-input-(\d+)>")
_NEVER_TOOLS = frozenset(dir(builtins))


@dataclass(slots=True)
class Cell:
    """A running cell."""

    limits: SandboxLimits
    number: int
    """Number of feeds to the session before it."""
    made: int
    """Number of calls of the whole session."""
    calls: dict[int, PendingCall]
    """Pending calls by id."""
    snapshot: Snapshot | None = None
    watch: Watch | None = None
    """Receives the lines that the text reports."""
    named: Named | None = None
    """Chooses items that the request names, if values may be left open."""

    def start(self, session: MontySession, text: str, inputs: Mapping[str, JsonValue]) -> Stop:
        """Run the cell to its first stop."""
        values = {name: into_program(value) for name, value in inputs.items()}
        return self._driven(lambda: session.feed_start(text, inputs=values, print_callback=_printed()))

    def resume(self, answers: Mapping[int, JsonValue | Failure]) -> Stop:
        """Continue from a stop with the answers to some calls."""
        snapshot = self.snapshot
        if not isinstance(snapshot, FutureSnapshot):
            raise RuntimeError("this cell waits for no call")
        for call in answers:
            self.calls.pop(call, None)
        return self._driven(lambda: snapshot.resume({call: _settled(answer) for call, answer in answers.items()}))

    def dump(self) -> bytes:
        """Save the state at a stop, to be continued in another worker."""
        if self.snapshot is None or isinstance(self.snapshot, MontyComplete):
            raise RuntimeError("this cell has ended")
        return self.snapshot.dump()

    def load(self, session: MontySession, state: bytes) -> None:
        """Restore a saved state."""
        self.snapshot = session.load_snapshot(state, print_callback=_printed())

    def _driven(self, begin: Callable[[], Snapshot]) -> Stop:
        """Run from a snapshot to the next stop; an error ends the cell."""
        try:
            snapshot = begin()
            while not (stop := self._stop(snapshot)):
                snapshot = self._past(snapshot)
        except MontyError as error:
            self.snapshot = None
            return broken(error, self.limits, f"<python-input-{self.number}>")
        return stop

    def _stop(self, snapshot: Snapshot) -> Stop | None:
        """Return the stop at a snapshot, or None if the cell can continue by itself."""
        self.snapshot = snapshot
        # Checked at every snapshot, since a program can make many calls before it waits for any.
        if self.made > self.limits.calls:
            return too_many_calls(self.limits)
        if isinstance(snapshot, MontyComplete):
            return _returned(snapshot)
        if isinstance(snapshot, FutureSnapshot):
            return Waiting(tuple(self.calls[one] for one in sorted(snapshot.pending_call_ids)))
        if isinstance(snapshot, FunctionSnapshot) and snapshot.function_name == LOOK:
            return self._looking(snapshot)
        return None

    def _past(self, snapshot: Snapshot) -> Snapshot:
        """Continue beyond a snapshot that is no stop: record a call, or refuse what does not exist."""
        if isinstance(snapshot, NameLookupSnapshot):
            return snapshot.resume()
        if not isinstance(snapshot, FunctionSnapshot):
            raise TypeError(f"no program goes on from {type(snapshot).__name__}")
        if snapshot.is_os_function:
            return snapshot.resume_not_handled()
        name = str(snapshot.function_name)
        cell = _CELL.fullmatch(snapshot.position.filename)
        if name in _NEVER_TOOLS or not cell:  # a text that the program itself made, by eval, calls nothing
            return snapshot.resume({"exc_type": "NameError", "message": f"name '{name}' is not defined here"})
        if name == WATCH and self.watch is not None:
            return _told(snapshot, self.watch)
        if name in (FILL, NAMED) and self.named is not None:
            back = self.number - int(cell.group(1))
            return snapshot.resume({"return_value": ...}) if name == FILL else _chosen(snapshot, self.named, back)
        self.made += 1
        try:
            call = self._call(snapshot, name, self.number - int(cell.group(1)))
        except (NoJsonError, ValueError) as error:
            return snapshot.resume({"exc_type": "TypeError", "message": f"{name}: {error}"})
        self.calls[call.id] = call
        return snapshot.resume({"future": ...})

    def _call(self, snapshot: FunctionSnapshot, name: str, back: int) -> PendingCall:
        """Return the pending call of a snapshot; ``...`` marks an argument that is left open."""
        placed = dict(zip(PARAMETERS, snapshot.args, strict=False)) if name == ASK else {}
        if len(snapshot.args) > len(placed):
            raise NoJsonError("arguments are given by name")
        start, end = snapshot.position.start, snapshot.position.end
        left = frozenset(name for name, value in snapshot.kwargs.items() if value is ... and self.named is not None)
        given = placed | {name: value for name, value in snapshot.kwargs.items() if name not in left}
        return PendingCall(snapshot.call_id, name, arguments(given), start, end, back, left)

    def _looking(self, snapshot: FunctionSnapshot) -> Stop:
        """End the cell at a look."""
        try:
            values = tuple(shown(value) for value in (*snapshot.args, *snapshot.kwargs.values()))
        except ValueError as error:
            return Broken("ValueError", str(error), lost=True)
        try:
            # The error must reach the top: otherwise the program caught it and would go on.
            snapshot.resume({"exc_type": _LOOKED, "message": LOOK})
        except MontyRuntimeError as error:
            if type(error.exception()).__name__ == _LOOKED:
                self.snapshot = None
                return Looking(values)
            raise
        return Broken("RuntimeError", f"{LOOK}(...) ends a program: do not catch what it raises", lost=True)


def _told(snapshot: FunctionSnapshot, watch: Watch) -> Snapshot:
    """Report a line to the watcher."""
    line, names = snapshot.args
    watch(int(line), {str(name): shown(value) for name, value in names.items()})
    return snapshot.resume({"return_value": None})


def _chosen(snapshot: FunctionSnapshot, named: Named, back: int) -> Snapshot:
    """Continue with the item that the request names; if there is none, that is an error in the program."""
    try:
        (items,) = snapshot.args
        item = named(out_of_program(items), snapshot.position.start, back)
    except (LookupError, NoJsonError, ValueError) as error:
        return snapshot.resume({"exc_type": "RuntimeError", "message": str(error)})
    return snapshot.resume({"return_value": into_program(item)})


def _returned(complete: MontyComplete) -> Returned | Broken:
    """Return the value of the last expression, or an error if it has no JSON form."""
    try:
        return Returned(out_of_program(complete.output))
    except (NoJsonError, ValueError) as error:
        return Broken("TypeError", f"the last expression cannot be an answer: {error}")


def _settled(answer: JsonValue | Failure) -> Settled:
    """Return an answer in the form that the sandbox takes."""
    if isinstance(answer, Failure):
        return {"exc_type": "RuntimeError", "message": str(into_program(answer.message))}
    return {"return_value": into_program(answer)}


def _printed() -> CollectString:
    """Return a sink for printed output, which nobody reads."""
    return CollectString(max_bytes=PRINTED)
