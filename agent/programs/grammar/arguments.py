"""Arguments of a function, as a sentence gives them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.programs.grammar.paths import Key, path_of
from agent.programs.grammar.sentence import Argument
from agent.programs.grammar.texts import Lookup, value
from agent.programs.signatures import Signature
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, Shape


@dataclass(slots=True)
class _Object:
    """An argument whose fields are given one by one: expressions, or objects of them."""

    fields: "dict[str, str | _Object]" = field(default_factory=dict[str, "str | _Object"])

    def put(self, names: Sequence[str], expression: str) -> None:
        """Set a nested field, which must not be set yet."""
        here = self
        for name in names[:-1]:
            inner = here.fields.setdefault(name, _Object())
            if isinstance(inner, str):
                raise InvalidDecisionError(f"{'.'.join(names)} is given twice")
            here = inner
        if names[-1] in here.fields:
            raise InvalidDecisionError(f"{'.'.join(names)} is given twice")
        here.fields[names[-1]] = expression

    def __str__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {one}' for name, one in self.fields.items())}}}"


def written_arguments(
    arguments: Sequence[Argument], function: Signature, lookup: Lookup
) -> tuple[str, tuple[str, ...]]:
    """Return the arguments of a call in Python, and the conditions under which they can be computed.

    Raises:
        InvalidDecisionError: a parameter or a value does not exist, or a required parameter is not given.
    """
    made = _Object()
    needs: list[str] = []
    for one in arguments:
        path = path_of(one.parameter)
        names = [path.root, *(part.name for part in path.parts if isinstance(part, Key))] if path else []
        if path is None or len(names) <= len(path.parts):
            raise InvalidDecisionError(f"{one.parameter[:60]!r} names no parameter of {function.name}")
        found = value(one.value, lookup, _wanted(function, names))
        needs += found.needs
        made.put(names, found.text)
    missing = [*_missing(made, function.takes)]
    if missing:
        raise InvalidDecisionError(f"{function.name} needs {', '.join(missing)} as well")
    return ", ".join(f"{name}={one}" for name, one in made.fields.items()), tuple(dict.fromkeys(needs))


def _missing(made: _Object, shape: Shape, before: str = "") -> Iterator[str]:
    """Yield the paths of required fields that are not given."""
    for name, one in shape.fields.items():
        given = made.fields.get(name)
        if given is None and name in shape.required:
            yield f"{before}{name}"
        elif isinstance(given, _Object):
            yield from _missing(given, one, f"{before}{name}.")


def _wanted(function: Signature, names: Sequence[str]) -> Shape:
    """Return the shape of a parameter, or of a nested field of it."""
    if names[0] not in function.arguments:
        own = ", ".join(function.arguments) or "none"
        raise InvalidDecisionError(f"{function.name} has no parameter {names[0]!r}; it has {own}")
    shape = function.takes
    for number, name in enumerate(names):
        if shape.fields and name not in shape.fields:
            own = ", ".join(shape.fields)
            raise InvalidDecisionError(f"{'.'.join(names[:number])} has no field {name!r}; it has {own}")
        shape = shape.fields.get(name, UNKNOWN)
    return shape
