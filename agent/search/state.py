"""Immutable state of the depth-first search. Each transition returns a new state."""

from collections.abc import Sequence
from typing import Self

from agent.memory.short_term import SearchMove, append_move
from domain.model import Model
from domain.tool import ToolId

Path = tuple[ToolId, ...]


class DeadPrefix(Model):
    """An abandoned path and the reason. No path that begins with it is tried again."""

    path: Path
    reason: str


class SearchState(Model):
    """State of a search: the current path and what was tried before."""

    path: Path = ()
    """Tools chosen so far."""
    offered: tuple[Path, ...] = ((),)
    """Candidates of each node on the path, starting with the root: ``len(offered) == len(path) + 1``."""
    dead: tuple[DeadPrefix, ...] = ()
    """Abandoned paths."""
    banned: tuple[ToolId, ...] = ()
    """Tools that are excluded at any position, because their call failed for good in this run."""
    again: Path = ()
    """Tools of the path that the current node offers again, to be called with another value."""
    best: Path = ()
    """The most valuable path seen, used when a budget runs out."""
    best_value: float = 0.0
    given_up: bool = False
    """The search backtracked past its start."""
    trail: tuple[SearchMove, ...] = ()
    """All moves so far."""
    instead_of: ToolId | None = None
    """Tool whose call failed at the current node; its substitutes come first there."""

    def offer(self, candidates: Sequence[ToolId], value: float = 0.0, again: Sequence[ToolId] = ()) -> Self:
        """Set the candidates of the current node.

        Args:
            candidates: the tools.
            value: value of the path; if it exceeds ``best_value``, the path becomes the best one.
            again: candidates that may be chosen although they are on the path.
        """
        offered = (*self.offered[:-1], tuple(candidates))
        best = {"best": self.path, "best_value": value} if value > self.best_value else {}
        return self.model_copy(update={"offered": offered, "again": tuple(again), **best})

    def is_open(self, tool: ToolId) -> bool:
        """Return whether the search may advance to a tool.

        A tool is closed if it is banned, completes a dead prefix, or is on the path and not offered again.
        """
        is_fresh = tool not in self.path or tool in self.again
        return is_fresh and tool not in self.banned and not self.is_dead((*self.path, tool))

    @property
    def open(self) -> Path:
        """The candidates of the current node that are still to be tried."""
        return tuple(tool for tool in self.offered[-1] if self.is_open(tool))

    def is_dead(self, path: Path) -> bool:
        """Return whether a path begins with a dead prefix."""
        return any(path[: len(dead.path)] == dead.path for dead in self.dead)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why branches were abandoned, oldest first."""
        return tuple(dead.reason for dead in self.dead)

    def push(self, tool: ToolId, reason: str = "") -> Self:
        """Advance to an open candidate of the current node.

        Raises:
            ValueError: the tool is no open candidate.
        """
        if self.given_up or tool not in self.open:
            msg = f"{tool} is no open candidate of this node"
            raise ValueError(msg)
        path = (*self.path, tool)
        trail = append_move(self.trail, "advance", tool, len(path), reason)
        changes = {"path": path, "offered": (*self.offered, ()), "again": (), "instead_of": None}
        return self.model_copy(update={**changes, "trail": trail})

    def backtrack(self, reason: str) -> Self:
        """Remove the last tool and mark the path that ended in it as dead. From the empty path, give up."""
        if not self.path:
            return self.model_copy(update={"given_up": True})
        dead = self.mark_dead(self.path, reason)
        trail = append_move(self.trail, "backtrack", self.path[-1], len(self.path) - 1, reason)
        here = {"path": self.path[:-1], "offered": self.offered[:-1], "again": (), "instead_of": None}
        return dead.model_copy(update={**here, "trail": trail})

    def mark_dead(self, path: Path, reason: str) -> Self:
        """Record a path as never to be tried again; ``ValueError`` for the empty path, which would end every search."""
        if not path:
            msg = "the empty path cannot be dead"
            raise ValueError(msg)
        if self.is_dead(path):
            return self
        return self.model_copy(update={"dead": (*self.dead, DeadPrefix(path=path, reason=reason))})

    def reopen(self, depth: int, reason: str, *, ban: bool = False, replace: bool = True) -> Self:
        """Go back to the node where the tool at position ``depth`` of the path was chosen, after its call failed.

        The path up to and including that tool becomes a dead prefix, and the node must be expanded again. If the best
        path begins with a dead prefix or contains a banned tool, it is discarded.

        Args:
            depth: index of the tool in the path.
            reason: why the call failed.
            ban: whether to exclude the tool for the rest of the run.
            replace: whether to put substitutes of the tool first.

        Raises:
            ValueError: the path has no such index.
        """
        if not 0 <= depth < len(self.path):
            msg = f"no tool at position {depth} of a path of {len(self.path)}"
            raise ValueError(msg)
        tool = self.path[depth]
        state = self.mark_dead(self.path[: depth + 1], reason)
        banned = (*self.banned, tool) if ban and tool not in self.banned else self.banned
        is_best_lost = state.is_dead(state.best) or any(step in banned for step in state.best)
        best = {"best": (), "best_value": 0.0} if is_best_lost else {}
        changes = {"path": self.path[:depth], "offered": (*self.offered[:depth], ()), "banned": banned, "again": ()}
        trail = append_move(self.trail, "failed", tool, depth, reason)
        return state.model_copy(update={**changes, **best, "trail": trail, "instead_of": tool if replace else None})

    def resume(self, path: Path, wrong_index: int, reason: str) -> Self:
        """Return to a path just before its tool at index ``wrong_index``, and mark the path up to that tool as dead.

        If the path has no such index, return to its end. This is for paths that reflection found wanting, whether the
        search ended with them or abandoned them before. Dead prefixes of the path before ``wrong_index`` are revived, since
        the search could not continue there otherwise.
        """
        prefix = path[:wrong_index]
        remaining_dead = tuple(dead for dead in self.dead if prefix[: len(dead.path)] != dead.path)
        state = self.model_copy(update={"dead": remaining_dead})
        tool = path[wrong_index] if wrong_index < len(path) else None
        if tool is not None:
            state = state.mark_dead(path[: wrong_index + 1], reason)
        trail = append_move(self.trail, "reflect", tool, len(prefix), reason)
        changes = {
            "path": prefix,
            "offered": ((),) * (len(prefix) + 1),
            "again": (),
            "given_up": False,
            "instead_of": None,
        }
        return state.model_copy(update={**changes, "trail": trail})

    def restart(self, excluded: Sequence[ToolId], reason: str) -> Self:
        """Return to the start and exclude the tools in ``excluded`` as first steps."""
        state = self
        for tool in excluded:
            state = state.mark_dead((tool,), reason)
        trail = append_move(self.trail, "reflect", None, 0, reason)
        changes = {"path": (), "offered": ((),), "again": (), "given_up": False, "instead_of": None}
        return state.model_copy(update={**changes, "trail": trail})
