"""Side effects that a source declares for its operations: as a plain word, or as hints of the Model Context Protocol."""

from collections.abc import Mapping

from domain.side_effect import Said
from graph.importers.records import RecordError

_OF_CHANGES = ("destructiveHint", "idempotentHint")


def of_hints(hints: Mapping[str, object], prefix: str = "") -> bool | None:
    """Return whether a tool only reads according to its MCP annotations; None where they do not say.

    ``destructiveHint`` and ``idempotentHint`` have a meaning only for tools that change something, so where ``readOnlyHint`` is
    missing (its default is false) either of them implies a change.
    """
    read_only = hints.get(f"{prefix}readOnlyHint")
    if isinstance(read_only, bool):
        return read_only
    return False if any(isinstance(hints.get(f"{prefix}{name}"), bool) for name in _OF_CHANGES) else None


def said_of(name: str, word: object, read_only: bool | None = None) -> Said:
    """Parse a declared side effect; where none is declared, use what the hints say.

    Args:
        name: The key of the declaration, for the error message.
        word: The declaration, ``reads`` or ``changes``; None if there is none.
        read_only: The result of :func:`of_hints`.

    Returns:
        Empty where neither says anything.

    Raises:
        RecordError: the word is unknown.
    """
    match word, read_only:
        case ("reads", _) | (None, True):
            return "reads"
        case ("changes", _) | (None, False):
            return "changes"
        case None, _:
            return ""
        case _:
            raise RecordError(f"{name!r} must be reads or changes, not {str(word)[:40]!r}")
