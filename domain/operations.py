"""Operations of an API document, and which of them a source takes as tools."""

from collections.abc import Iterable

from domain.model import Model

NO_TAG = ""
"""Among the tags of a choice, stands for operations without a tag."""


class Operation(Model):
    """One operation as its document lists it."""

    method: str
    """In upper case."""
    path: str
    """As it is written in the document, with ``{name}`` for its parameters."""
    name: str = ""
    """Its ``operationId``; empty where it has none."""
    tags: tuple[str, ...] = ()
    summary: str = ""
    deprecated: bool = False

    @property
    def label(self) -> str:
        """The text that selects this operation alone: its name, or ``METHOD /path``."""
        return self.name or f"{self.method} {self.path}"


class OperationChoice(Model):
    """The operations that a source takes from its document.

    An operation is taken when its tag, its path or its name is chosen, and its method is one of ``methods``. An empty ``methods`` allows
    every method; with ``tags``, ``paths`` and ``names`` all empty, only the method decides. An empty choice takes everything.
    """

    tags: tuple[str, ...] = ()
    """:data:`NO_TAG` stands for operations without a tag."""
    paths: tuple[str, ...] = ()
    """Beginnings of paths, in whole segments: ``/repos`` covers ``/repos`` and ``/repos/{id}``, not ``/reposts``."""
    methods: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Single operations, by :attr:`Operation.label` or ``METHOD /path``."""

    @property
    def is_empty(self) -> bool:
        """True if nothing is chosen, so that every operation is taken."""
        return not (self.tags or self.paths or self.methods or self.names)

    def select(self, operations: Iterable[Operation]) -> list[Operation]:
        """Return the operations that are taken, in their order."""
        tags, names = frozenset(self.tags), frozenset(self.names)
        methods = frozenset(method.upper() for method in self.methods)
        # A slash at the end of both keeps ``/repos`` from covering ``/reposts``.
        prefixes = tuple(path.rstrip("/") + "/" for path in self.paths)
        any_place = not (tags or names or prefixes)
        return [
            one
            for one in operations
            if (not methods or one.method in methods)
            and (
                any_place
                or not tags.isdisjoint(one.tags or (NO_TAG,))
                or (one.path + "/").startswith(prefixes)
                or one.name in names
                or f"{one.method} {one.path}" in names
            )
        ]


class TagCount(Model):
    """A tag with the number of operations that have it."""

    tag: str
    count: int


class OperationOutline(Model):
    """The operations that a document lists, to choose from."""

    title: str
    total: int
    """Number of operations in the document; ``operations`` is cut if there are very many."""
    operations: tuple[Operation, ...]
    tags: tuple[TagCount, ...]
    """Tags of the most operations first."""
