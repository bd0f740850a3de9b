"""Counts trajectories and recorded calls into a ``GraphBatch``, after cleaning them (thesis 3.3.2).

Cleaning decides which trajectories, and which of their calls, transitions are counted from. Pure functions; merging the
results of parts is associative.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import TypedDict

from domain.tool import FINISH, ToolId
from domain.trajectory import RecordedCall, RecordedOutcome, Trajectory
from graph.cleaning import clean
from graph.facts import GraphBatch
from graph.function_names import NameIndex, ResolvedName

_OK, _FAILED = RecordedOutcome.OK, RecordedOutcome.FAILED
"""Bound once, because looking up a member of an enumeration takes longer than counting a call."""


class CallCounts(TypedDict):
    """Figures of calls: call nodes of all trajectories, dropped ones included, and recorded calls."""

    read: int
    known: int
    """Calls of known outcome."""
    ok: int
    unresolved: int
    ambiguous: int


@dataclass(slots=True)
class ImportTally:
    """Counts of everything that was read, whether or not it is new to the store."""

    trajectories: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter[str])
    calls: int = 0
    known: int = 0
    """Calls of known outcome."""
    ok: int = 0
    elsewhere: int = 0
    """Calls joined by name to a document of another tool set."""
    unresolved: Counter[str] = field(default_factory=Counter[str])
    ambiguous: Counter[str] = field(default_factory=Counter[str])

    def merge(self, other: "ImportTally") -> None:
        """Add the counts of ``other`` to these."""
        self.trajectories += other.trajectories
        self.kept += other.kept
        self.calls += other.calls
        self.known += other.known
        self.ok += other.ok
        self.elsewhere += other.elsewhere
        self.dropped.update(other.dropped)
        self.unresolved.update(other.unresolved)
        self.ambiguous.update(other.ambiguous)

    def summarize_calls(self) -> CallCounts:
        """Return the figures of calls as the command prints them."""
        return CallCounts(
            read=self.calls,
            known=self.known,
            ok=self.ok,
            unresolved=self.unresolved.total(),
            ambiguous=self.ambiguous.total(),
        )

    def note(self, name: ResolvedName, label: str) -> None:
        """Count a call whose name does not simply match one document; the report lists it under ``label``."""
        if name.how == "unresolved":
            self.unresolved[label] += 1
        elif name.how == "ambiguous":
            self.ambiguous[label] += 1
        elif name.how == "elsewhere":
            self.elsewhere += 1


def count_trajectory(
    batch: GraphBatch, tally: ImportTally, trajectory: Trajectory, names: NameIndex
) -> tuple[ToolId, ...]:
    """Add one trajectory and return its cleaned path, empty if the trajectory is dropped.

    Every call node gives evidence, the cleaned path gives transitions; its last node is linked to ``FINISH``. A call
    that failed by its caller's fault, or whose outcome is unknown, is no evidence. Unresolved names are counted under
    ids of their own.
    """
    for call in trajectory.attempts:
        name = names.resolve(call.function, call.category, call.toolset)
        if name.how != "document":
            tally.note(name, call.function)
        _add_evidence(batch, tally, name.id, call.outcome)
    steps = [
        (call.function, names.resolve(call.function, call.category, call.toolset).id, call.outcome)
        for call in trajectory.path
    ]
    tally.trajectories += 1
    path = clean(steps, trajectory.finish)
    if isinstance(path, str):
        tally.dropped[path] += 1
        return ()
    tally.kept += 1
    for source, target in zip(path, [*path[1:], FINISH], strict=True):
        batch.transitions[source, target] += 1
    return tuple(path)


def count_recorded_call(batch: GraphBatch, tally: ImportTally, call: RecordedCall, names: NameIndex) -> ToolId | None:
    """Add one recorded call and return its tool.

    None if the name joins no document, or several: no path ever reaches that name, so it is reported but not stored.
    """
    name = names.resolve_recorded(call.category, call.toolset, call.function)
    tally.note(name, f"{call.category}/{call.toolset}/{call.function}")
    _add_evidence(batch if name.resolved else None, tally, name.id, call.outcome)
    return name.id if name.resolved else None


def _add_evidence(batch: GraphBatch | None, tally: ImportTally, tool: ToolId, outcome: RecordedOutcome) -> None:
    """Count a call in the tally, and, where its outcome is known, in the batch."""
    tally.calls += 1
    if outcome is _OK:
        tally.known += 1
        tally.ok += 1
        if batch is not None:
            batch.calls[tool] += 1
            batch.successes[tool] += 1
    elif outcome is _FAILED:
        tally.known += 1
        if batch is not None:
            batch.calls[tool] += 1
