"""What has a name while a sentence is compiled, and the lines written so far."""

from collections.abc import Collection, Iterable, Mapping

from agent.programs.grammar.paths import Path
from agent.programs.grammar.values import TEXT, Follower, Found, Known
from agent.programs.names import TAKEN, identifier
from agent.programs.signatures import Signature
from domain.errors import InvalidDecisionError

_OWN = frozenset({"item", "each", "result"})
_NAMED = 30


class Scope:
    """Names of steps to variables with what is known of them; lines of the program, deeper by one level behind each guard."""

    def __init__(self, functions: Mapping[str, Signature], given: Collection[str] = ()) -> None:
        self.functions = functions
        self.lines: list[str] = []
        self.depth = 0
        self.at_once = False
        self._held: dict[str, Found] = {"today": Found("today", Known(TEXT))}
        self._held |= {name: Found(name) for name in given}
        self._used = {*TAKEN, *_OWN, *functions, *given}
        self._certain = set[str]()
        self._follower = Follower(self._fresh)

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + text)

    def need(self, conditions: Iterable[str]) -> None:
        """All that is written from here on stands behind these conditions."""
        open_ones = [one for one in dict.fromkeys(conditions) if one not in self._certain]
        if open_ones:
            self.line(f"if {' and '.join(open_ones)}:")
            self.depth += 1
            self._certain.update(open_ones)

    def hold(self, name: str, expression: str, known: Known) -> str:
        """Write an expression down under the name of a step; the variable that holds it.

        Raises:
            InvalidDecisionError: the name is not free.
        """
        if name in self._held or name in _OWN:
            raise InvalidDecisionError(
                f"the name {name!r} is taken: each step has a name of its own, and not item or result"
            )
        variable = self.variable(name)
        self.line(f"{variable} = {expression}")
        self._held[name] = Found(variable, known)
        return variable

    def variable(self, name: str) -> str:
        """A variable that is free, as like the name as can be."""
        wanted = identifier(name, "step")
        number, free = 2, wanted
        while free in self._used:
            free, number = f"{wanted}_{number}", number + 1
        self._used.add(free)
        return free

    def give_up(self, name: str) -> None:
        """A step that is wrong: those that build on it are not told so again."""
        self._held.setdefault(name, Found(identifier(name, "step")))

    def find(self, path: Path, within: Found | None = None) -> Found:
        """What lies at a path. ``within``: the item of a list, for paths that begin with ``item``, and ``result`` for what came of it.

        Raises:
            InvalidDecisionError: nothing does.
        """
        if within is not None and path.root in ("item", "result"):
            return self.enter(within, path)
        if path.root not in self._held:
            known = ", ".join([*list(self._held)[-_NAMED:], *(["item"] if within else [])])
            raise InvalidDecisionError(f"there is no {path.root!r} before this step; what there is: {known}")
        return self._follower.follow(self._held[path.root], path)

    def enter(self, item: Found, path: Path) -> Found:
        """What lies in the item of a list. An item that is a pair of ``item`` and ``result`` is gone into by these names."""
        first = path.parts[0].name if path.parts and not isinstance(path.parts[0], int) and path.parts[0] else ""
        if item.known.pair and not (path.root == "item" and first in ("item", "result")):
            place = 1 if path.root == "result" else 0
            return self._follower.follow(Found(f"{item.text}[{place}]", item.known.pair[place]), path)
        if path.root == "result":
            raise InvalidDecisionError("`result` is there only in what `for_each` came to")
        return self._follower.follow(item, path)

    def _fresh(self) -> str:
        return self.variable("one")
