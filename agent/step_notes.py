"""Notes of steps as readers of an answer see them, and reasons why steps are abandoned."""

import re

from agent.text import clean
from domain.plan import StepResult

REPEATED = "Answered from the same call, made before in this run."
"""Note of a call that was answered from the cache of the run."""
TRIED = "Tried before, without finding anything:"
"""Beginning of a note that lists earlier arguments; they follow it."""

# The last alternative is the wording of earlier versions, which stored runs contain.
_INTERNAL = re.compile(
    rf"\s*(?:{re.escape(REPEATED)}|{re.escape(TRIED)}.*|The same call as step \d+; answered from it\.)", re.DOTALL
)


def strip_internal_notes(note: str) -> str:
    """Return a note without sentences about the run's own bookkeeping, such as repeated calls."""
    return _INTERNAL.sub("", note).strip()


def explain_failure(result: StepResult) -> str:
    """Return the reason why a failed step is abandoned for another path."""
    if result.status == "missing" or result.http_status == 200:
        return clean(result.note)
    status = f"HTTP {result.http_status}" if result.http_status else result.status
    return f"the call failed for good ({status}){': ' + clean(result.note) if result.note else ''}"
