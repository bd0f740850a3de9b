"""Names in scope while a sentence is compiled, and the lines written so far."""

from collections.abc import Collection, Iterable, Mapping

from agent.programs.grammar.paths import Path
from agent.programs.grammar.values import TEXT, Follower, Found, Known
from agent.programs.names import TAKEN, identifier
from agent.programs.signatures import Signature
from domain.errors import InvalidDecisionError

_OWN = frozenset({"item", "each", "result"})
_NAMED = 30


class Scope:
    """State of a compilation: the variable and the known shape of each step, and the lines of the program.

    Each guard indents the lines after it by one level.
    """

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
        """Append a line at the current depth."""
        self.lines.append("    " * self.depth + text)

    def need(self, conditions: Iterable[str]) -> None:
        """Guard everything written from here on by these conditions."""
        open_ones = [one for one in dict.fromkeys(conditions) if one not in self._certain]
        if open_ones:
            self.line(f"if {' and '.join(open_ones)}:")
            self.depth += 1
            self._certain.update(open_ones)

    def hold(self, name: str, expression: str, known: Known) -> str:
        """Assign an expression to a variable for a step, and return the variable.

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
        """Return an unused variable, as similar to the name as possible."""
        wanted = identifier(name, "step")
        number, free = 2, wanted
        while free in self._used:
            free, number = f"{wanted}_{number}", number + 1
        self._used.add(free)
        return free

    def give_up(self, name: str) -> None:
        """Register the name of a wrong step, so that steps that use it are not reported as well."""
        self._held.setdefault(name, Found(identifier(name, "step")))

    def find(self, path: Path, within: Found | None = None) -> Found:
        """Return the expression at a path.

        ``within``: the item of a list, for paths that begin with ``item``, and with ``result`` for the result of its call.

        Raises:
            InvalidDecisionError: the path leads nowhere.
        """
        if within is not None and path.root in ("item", "result"):
            return self.enter(within, path)
        if path.root not in self._held:
            known = ", ".join([*list(self._held)[-_NAMED:], *(["item"] if within else [])])
            raise InvalidDecisionError(f"there is no {path.root!r} before this step; what there is: {known}")
        return self._follower.follow(self._held[path.root], path)

    def enter(self, item: Found, path: Path) -> Found:
        """Return the expression at a path in a list item; a pair of ``item`` and ``result`` is entered by these names."""
        first = path.parts[0].name if path.parts and not isinstance(path.parts[0], int) and path.parts[0] else ""
        if item.known.pair and not (path.root == "item" and first in ("item", "result")):
            place = 1 if path.root == "result" else 0
            return self._follower.follow(Found(f"{item.text}[{place}]", item.known.pair[place]), path)
        if path.root == "result":
            raise InvalidDecisionError("`result` is there only in what `for_each` came to")
        return self._follower.follow(item, path)

    def _fresh(self) -> str:
        """Return an unused variable for the items of a list."""
        return self.variable("one")
