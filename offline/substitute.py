"""The offline policy's move where a call has failed: the tool that does the same, asked what the failed one was asked."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.policy.protocol import Arguments, Choice, Situation
from domain.tool import ToolDoc, ToolId
from offline.change_words import may_call
from offline.substitution import asked_alike

Missing = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]
Path = tuple[ToolId, ...]


@dataclass(slots=True)
class Handed:
    """What was asked of each tool behind each path, to be handed to what stands in for it. ``instead``: paths to a stand-in."""

    asked: dict[Path, tuple[ToolDoc, Arguments]] = field(default_factory=dict[Path, tuple[ToolDoc, Arguments]])
    instead: set[Path] = field(default_factory=set[Path])

    def note(self, tool: ToolDoc, path: Path, arguments: Arguments) -> None:
        """Keep what is asked of a tool, which ``path`` ends with."""
        if not arguments.missing:
            self.asked[path] = (tool, arguments)

    def completing(self, missing: Missing) -> Missing:
        """As ``missing``, but nothing is for a tool that can be asked what a failed one was asked at the same place."""

        def left(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
            place = (*(step.id for step in path), tool.id)
            if self._of_another(tool, place) is None:
                return missing(tool, path)
            self.instead.add(place)
            return frozenset()

        return left

    def down(self, tool: ToolDoc, path: Path) -> Arguments | None:
        """What a stand-in, which ``path`` ends with, is asked; None for any other tool."""
        return self._of_another(tool, path) if path in self.instead else None

    def _of_another(self, tool: ToolDoc, path: Path) -> Arguments | None:
        for place, (other, asked) in reversed(self.asked.items()):
            if place[:-1] == path[:-1] and other.id != tool.id:
                alike = asked_alike(other, asked.values, asked.provenance, tool)
                if alike is not None:
                    return Arguments(*alike)
        return None


def substituted(situation: Situation, missing: Missing) -> Choice | None:
    """Advance to the first substitute whose inputs are all there; None where none is on offer."""
    for at, candidate in enumerate(situation.candidates):
        usable = candidate.origin == "substitute" and may_call(candidate.tool, situation.request)
        if usable and not missing(candidate.tool, situation.path):
            return Choice("advance", "does the same as the tool whose call failed", at)
    return None
