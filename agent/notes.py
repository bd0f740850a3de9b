"""Which parts of a step's note are for the reader of an answer: those that speak of the response, not of how the run came by it."""

import re

REPEATED = "Answered from the same call, made before in this run."
TRIED = "Tried before, without finding anything:"

_INTERNAL = re.compile(
    rf"\s*(?:{re.escape(REPEATED)}|{re.escape(TRIED)}.*|The same call as step \d+; answered from it\.)", re.DOTALL
)


def fit_to_tell(note: str) -> str:
    """A note without what only explains the run's own bookkeeping."""
    return _INTERNAL.sub("", note).strip()
