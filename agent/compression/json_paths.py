"""Paths of fields in JSON values: ``items[].name``, ``rates.*`` for keys that are data, ``["odd key"].name``."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

import orjson
from pydantic.types import JsonValue

ITEMS = "[]"
"""Step into every item of a list."""
ANY_KEY = ".*"
"""Step into every member of an object whose keys are data."""
MAX_FIELDS = 400
"""Fields of one response."""
_MAX_DEPTH = 8
"""Levels below which a structure counts as one field."""
_MAX_NODES = 20_000
"""Leaves that are visited in one value."""
# A list's shape is judged from its first and last items.
_HEAD_ITEMS, _TAIL_ITEMS = 40, 2

_PLAIN_KEY = re.compile(r"[^\W\d][\w$@:/+-]{0,59}|\d[\w-]{0,59}")
"""A key that needs no quotes in a path."""
_STEP = re.compile(r'\[\]|\["(?:[^"\\]|\\.)*"\]|\.?\*(?=[.\[]|$)|\.?[^.\[\]"]+')
"""One step of a path: ``[]``, ``["key"]``, ``*`` or ``.key``."""
_DATA_KEY = re.compile(r"\W*\d[\d\W]*|\d{4}-\d\d.*|[0-9a-fA-F-]{16,}|.{61,}|[A-Z]{2,3}(?:[/_-]?[A-Z]{3})?")
"""A key that is a value: a number, a day, a hash, a currency (pair) or a very long text."""
# Fewer members than this never count as data, more always if they are uniform.
_FEW, _MANY = 3, 100


_PathEntry = tuple[str, JsonValue, int]
"""A path, its value, and its depth."""


@lru_cache(maxsize=16384)
def format_step(key: str) -> str:
    """Return the step into a member of an object: ``.name``, or ``["a.b"]`` for a key that would be ambiguous."""
    if _PLAIN_KEY.fullmatch(key):
        return f".{key}"
    return f"[{orjson.dumps(key.encode('utf-8', 'replace').decode()).decode()}]"


def list_field_paths(value: JsonValue) -> tuple[str, ...]:
    """Return the distinct paths of a value's scalars in their order, at most ``MAX_FIELDS``.

    A structure nested deeper than ``_MAX_DEPTH`` is one field. Lists are sampled at both ends. An object whose keys are
    data (numbers, days, codes, or simply many) has one path for all its members.
    """
    paths: dict[str, None] = {}
    for path, _ in iterate_leaves(value):
        if path:
            paths[path] = None
        if len(paths) >= MAX_FIELDS:
            break
    return tuple(paths)


def iterate_leaves(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield the leaves of a value with their paths, of a huge value the first ``_MAX_NODES``; paths repeat."""
    return ((path.removeprefix("."), leaf) for path, leaf in islice(_walk_leaves(value), _MAX_NODES))


def _walk_leaves(root: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Walk depth-first and in order; iterative, so that no value exceeds Python's recursion limit."""
    stack: list[Iterator[_PathEntry]] = [iter((("", root, 0),))]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        path, value, depth = entry
        if not value or not isinstance(value, (dict, list)) or depth >= _MAX_DEPTH:
            yield path, value
        else:
            stack.append(_iterate_children(path, value, depth + 1))


def _iterate_children(path: str, value: "dict[str, JsonValue] | list[JsonValue]", depth: int) -> Iterator[_PathEntry]:
    """Yield the children of a structure that lies at ``path``."""
    if isinstance(value, list):
        for item in _sample_items(value):
            yield path + ITEMS, item, depth
    elif has_data_keys(value):
        for item in islice(value.values(), _HEAD_ITEMS):
            yield path + ANY_KEY, item, depth
    else:
        for key, item in value.items():
            yield path + format_step(key), item, depth


def _sample_items(items: list[JsonValue]) -> Iterable[JsonValue]:
    if len(items) <= _HEAD_ITEMS + _TAIL_ITEMS:
        return items
    return chain(items[:_HEAD_ITEMS], items[-_TAIL_ITEMS:])


def has_data_keys(value: Mapping[str, JsonValue]) -> bool:
    """Check if an object's keys are values rather than field names, as in ``{"2024-05-01": …, "2024-05-02": …}``."""
    if len(value) < _FEW:
        return False
    kinds = {type(item) for item in value.values() if item is not None}
    if len(value) > _MANY and kinds <= {dict, list, int, float}:
        return True
    return len(kinds - {float}) <= 1 and all(_DATA_KEY.fullmatch(key) for key in value)


@dataclass(slots=True)
class PathSelection:
    """A set of selected paths as a tree of steps."""

    is_whole: bool = False
    """True if everything below this node is selected."""
    children: dict[str, "PathSelection"] = field(default_factory=dict[str, "PathSelection"])
    """The nodes below, by the step that leads to them."""

    @classmethod
    def from_paths(cls, paths: Iterable[str]) -> "PathSelection":
        """Build a selection of these paths; the path of a structure selects all of it."""
        root = cls()
        for path in paths:
            node = root
            for step in split_path(path):
                node = node.children.setdefault(step, cls())
            node.is_whole = True
        return root

    def descend(self, step: str) -> "PathSelection | None":
        """Return the selection below a step; None if nothing there is selected. ``.*`` matches every member."""
        return (
            self
            if self.is_whole
            else self.children.get(step) or (self.children.get(ANY_KEY) if step != ITEMS else None)
        )

    def covers(self, path: str) -> bool:
        """Check if a path is selected, by itself or within a structure."""
        node: PathSelection | None = self
        for step in split_path(path):
            node = node and node.descend(step)
        return node is not None and node.is_whole

    def select(self, value: JsonValue, depth: int = 0) -> JsonValue:
        """Return the selected part of a value; objects keep the order of their members, lists their length."""
        if self.is_whole or not isinstance(value, (dict, list)) or depth > _MAX_DEPTH:
            return value
        if isinstance(value, list):
            inner = self.descend(ITEMS)
            return [inner.select(item, depth + 1) for item in value] if inner else []
        selected: dict[str, JsonValue] = {}
        for key, item in value.items():
            inner = self.descend(format_step(key))
            if inner:
                selected[key] = inner.select(item, depth + 1)
        return selected


def split_path(path: str) -> list[str]:
    """Split a path into its steps, in the notation of :func:`format_step`."""
    steps: list[str] = _STEP.findall(path)
    return [step if step[0] in ".[" else f".{step}" for step in steps]


def match_field_names(names: Iterable[str], fields: Iterable[str]) -> tuple[str, ...]:
    """Match names written by a model to ``fields`` or to structures that contain them; unknown names are dropped.

    ``$.items[0].name``, ``items[*].name`` and ``items.name`` all match ``items[].name``.
    """
    fields_by_spelling: dict[str, str] = {}
    for path in fields:
        steps = split_path(path)
        for end in range(len(steps), 0, -1):
            prefix = "".join(steps[:end]).removeprefix(".")
            fields_by_spelling.setdefault(prefix, prefix)
            fields_by_spelling.setdefault(_normalize_path(prefix), prefix)
    matches = (
        fields_by_spelling.get(name) or fields_by_spelling.get(_normalize_path(name)) for name in map(str.strip, names)
    )
    return tuple(dict.fromkeys(name for name in matches if name))


def _normalize_path(name: str) -> str:
    """Remove from a path what models add or omit: the root, quotes, indices and letter case."""
    plain = re.sub(r"^(?:\$|response|root)(?=[.\[])", "", name.strip("`'\" "))
    return re.sub(r"\[(?:\d+|\*)?\]", "", plain).lstrip(".").casefold()
