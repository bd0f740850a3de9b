"""What a source itself says of an operation's side effect: in plain words, or in the hints of the Model Context Protocol."""

from domain.side_effect import Said
from graph.importers.records import RecordError

WORDS: tuple[Said, ...] = ("reads", "changes")


def said_of(name: str, word: object, read_only: object = None) -> Said:
    """``word`` as it stands under ``name``; without one ``read_only``, MCP's ``readOnlyHint``. Empty where neither is given.

    Raises:
        RecordError: the word is none that is known.
    """
    if word is None:
        return {True: WORDS[0], False: WORDS[1]}[read_only] if isinstance(read_only, bool) else ""
    for known in WORDS:
        if word == known:
            return known
    raise RecordError(f"{name!r} must be reads or changes, not {str(word)[:40]!r}")
