"""What a source itself says of an operation's side effect: in plain words, or in the hints of others who ask before a change."""

from collections.abc import Mapping

from domain.side_effect import Said
from graph.importers.records import RecordError

_OF_CHANGES = ("destructiveHint", "idempotentHint")


def of_hints(hints: Mapping[str, object], prefix: str = "") -> bool | None:
    """Whether a tool only reads, by the annotations of the Model Context Protocol; None where they do not say.

    Those that only a tool which changes something may have tell of one, since ``readOnlyHint`` is false where it is not given.
    """
    read_only = hints.get(f"{prefix}readOnlyHint")
    if isinstance(read_only, bool):
        return read_only
    return False if any(isinstance(hints.get(f"{prefix}{name}"), bool) for name in _OF_CHANGES) else None


def said_of(name: str, word: object, read_only: bool | None = None) -> Said:
    """``word`` as it stands under ``name``; without one what hints say, ``read_only``. Empty where neither is given.

    Raises:
        RecordError: the word is none that is known.
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
