"""The fields of a JSON value by path: ``items[].name``, ``rates.*`` where keys are data, ``["odd key"].name``."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

import orjson
from pydantic.types import JsonValue

ITEMS = "[]"
ANY_KEY = ".*"
MAX_FIELDS = 400
_MAX_DEPTH = 8
_MAX_NODES = 20_000
_HEAD_ITEMS, _TAIL_ITEMS = 40, 2

_PLAIN = re.compile(r"[^\W\d][\w$@:/+-]{0,59}|\d[\w-]{0,59}")
_STEP = re.compile(r'\[\]|\["(?:[^"\\]|\\.)*"\]|\.?\*(?=[.\[]|$)|\.?[^.\[\]"]+')
_DATA_KEY = re.compile(r"\W*\d[\d\W]*|\d{4}-\d\d.*|[0-9a-fA-F-]{16,}|.{61,}|[A-Z]{2,3}(?:[/_-]?[A-Z]{3})?")
_FEW, _MANY = 3, 100


_Entry = tuple[str, JsonValue, int]
"""A path, what stands there, and how deep."""


@lru_cache(maxsize=16384)
def step_of(key: str) -> str:
    """The step of a path into a member: ``.name``; ``["a.b"]`` for a key that would be read otherwise."""
    if _PLAIN.fullmatch(key):
        return f".{key}"
    return f"[{orjson.dumps(key.encode('utf-8', 'replace').decode()).decode()}]"


def fields_of(value: JsonValue) -> tuple[str, ...]:
    """The paths of all scalars, in order, each once, at most ``MAX_FIELDS``. Below eight levels a structure is one field.

    The first items of a list and its last ones tell the shape of all. An object whose keys are data (numbers, days,
    codes, or simply many) has one path for all its members.
    """
    found: dict[str, None] = {}
    for path, _ in leaves_of(value):
        if path:
            found[path] = None
        if len(found) >= MAX_FIELDS:
            break
    return tuple(found)


def leaves_of(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """The fields of a value with what stands there, each as often as it is found; of a huge value, the first 20,000."""
    return ((path.removeprefix("."), leaf) for path, leaf in islice(_leaves(value), _MAX_NODES))


def _leaves(root: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Depth-first and in order, without recursion."""
    stack: list[Iterator[_Entry]] = [iter((("", root, 0),))]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        path, value, depth = entry
        if not value or not isinstance(value, (dict, list)) or depth >= _MAX_DEPTH:
            yield path, value
        else:
            stack.append(_members(path, value, depth + 1))


def _members(path: str, value: "dict[str, JsonValue] | list[JsonValue]", depth: int) -> Iterator[_Entry]:
    if isinstance(value, list):
        for item in _sample(value):
            yield path + ITEMS, item, depth
    elif keys_are_data(value):
        for item in islice(value.values(), _HEAD_ITEMS):
            yield path + ANY_KEY, item, depth
    else:
        for key, item in value.items():
            yield path + step_of(key), item, depth


def _sample(items: list[JsonValue]) -> Iterable[JsonValue]:
    if len(items) <= _HEAD_ITEMS + _TAIL_ITEMS:
        return items
    return chain(items[:_HEAD_ITEMS], items[-_TAIL_ITEMS:])


def keys_are_data(value: Mapping[str, JsonValue]) -> bool:
    """Whether an object is a table whose keys are values: ``{"2024-05-01": …}``, ``{"EUR": 1.1, "USD": …}``."""
    if len(value) < _FEW:
        return False
    kinds = {type(item) for item in value.values() if item is not None}
    if len(value) > _MANY and kinds <= {dict, list, int, float}:
        return True
    return len(kinds - {float}) <= 1 and all(_DATA_KEY.fullmatch(key) for key in value)


@dataclass(slots=True)
class Selection:
    """A set of paths as a tree. ``whole``: all that is below is selected."""

    whole: bool = False
    below: dict[str, "Selection"] = field(default_factory=dict[str, "Selection"])

    @classmethod
    def of(cls, paths: Iterable[str]) -> "Selection":
        """A selection of these paths; one that names a structure selects all of it."""
        root = cls()
        for path in paths:
            node = root
            for step in steps_of(path):
                node = node.below.setdefault(step, cls())
            node.whole = True
        return root

    def into(self, step: str) -> "Selection | None":
        """What is selected below one step; a ``*`` stands for every member."""
        return self if self.whole else self.below.get(step) or (self.below.get(ANY_KEY) if step != ITEMS else None)

    def covers(self, path: str) -> bool:
        """Whether a path, or a structure around it, is selected."""
        node: Selection | None = self
        for step in steps_of(path):
            node = node and node.into(step)
        return node is not None and node.whole

    def take(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """The selected part of a value. Objects and lists stay what they are, in their order; lists keep their length."""
        if self.whole or not isinstance(value, (dict, list)) or depth > _MAX_DEPTH:
            return value
        if isinstance(value, list):
            inner = self.into(ITEMS)
            return [inner.take(item, depth + 1) for item in value] if inner else []
        taken: dict[str, JsonValue] = {}
        for key, item in value.items():
            inner = self.into(step_of(key))
            if inner:
                taken[key] = inner.take(item, depth + 1)
        return taken


def steps_of(path: str) -> list[str]:
    """A path as its steps, as :func:`step_of` writes them."""
    found: list[str] = _STEP.findall(path)
    return [step if step[0] in ".[" else f".{step}" for step in found]


def named_fields(named: Iterable[str], fields: Iterable[str]) -> tuple[str, ...]:
    """Of names as a model writes them, those that are ``fields`` or structures around them; the rest is left out.

    ``$.items[0].name``, ``items[*].name`` and ``items.name`` are all ``items[].name``.
    """
    known: dict[str, str] = {}
    for path in fields:
        steps = steps_of(path)
        for end in range(len(steps), 0, -1):
            prefix = "".join(steps[:end]).removeprefix(".")
            known.setdefault(prefix, prefix)
            known.setdefault(_loose(prefix), prefix)
    found = (known.get(name) or known.get(_loose(name)) for name in map(str.strip, named))
    return tuple(dict.fromkeys(name for name in found if name))


def _loose(name: str) -> str:
    """A path without what models add to it or leave out of it: the root, quotes, indices, letter case."""
    plain = re.sub(r"^(?:\$|response|root)(?=[.\[])", "", name.strip("`'\" "))
    return re.sub(r"\[(?:\d+|\*)?\]", "", plain).lstrip(".").casefold()
