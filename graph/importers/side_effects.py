"""What a source itself says of an operation's side effect: in plain words, or in the hints of the Model Context Protocol."""

from domain.side_effect import Said
from graph.importers.records import RecordError


def said_of(name: str, word: object, read_only: object = None) -> Said:
    """``word`` as it stands under ``name``; without one ``read_only``, MCP's ``readOnlyHint``. Empty where neither is given.

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
