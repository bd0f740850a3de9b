"""What a step's note says to the reader of an answer, which is of the response and not of how the run came by it; and why a step is gone around."""

import re

from agent.text import clean
from domain.plan import StepResult

REPEATED = "Answered from the same call, made before in this run."
TRIED = "Tried before, without finding anything:"

_INTERNAL = re.compile(
    rf"\s*(?:{re.escape(REPEATED)}|{re.escape(TRIED)}.*|The same call as step \d+; answered from it\.)", re.DOTALL
)


def fit_to_tell(note: str) -> str:
    """A note without what only explains the run's own bookkeeping."""
    return _INTERNAL.sub("", note).strip()


def why(result: StepResult) -> str:
    """Why a step is gone around."""
    if result.status == "missing" or result.http_status == 200:
        return clean(result.note)
    status = f"HTTP {result.http_status}" if result.http_status else result.status
    return f"the call failed for good ({status}){': ' + clean(result.note) if result.note else ''}"
