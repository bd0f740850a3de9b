"""Refused keys: replacement of a key after a 401, and many refusals (403) as evidence against the tool."""

from dataclasses import replace

from agent.execution.host_memory import OWNERS, HostMemory
from agent.execution.http.attempt import Call, Try
from agent.execution.http.credentials import keyed
from agent.execution.secrets import Secrets
from domain.errors import SecretError

AGAIN = "its key was refused and obtained anew; the call was made once more with it"
_NOT_AGAIN = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


async def with_new_keys(call: Call, last: Try, secrets: Secrets) -> Try | None:
    """Replace keys that were refused (401).

    Return None where the call should be sent once more with them, else the attempt.

    A refusal should mean that nothing was done, but not every server keeps to that, so a change is not repeated without its user.
    """
    if last.status != 401 or not call.keyed.sent:
        return last
    try:
        new = [await secrets.refused(name, value) for name, value in call.keyed.sent]
        if not any(new):
            return last
        if not call.tool.repeatable:
            return replace(last, notes=(*last.notes, _NOT_AGAIN))
        call.keyed = await keyed(call.keyed.request, call.tool, secrets)
    except SecretError as error:
        return replace(last, notes=(*last.notes, str(error)))
    return None


def weigh_refusal(call: Call, last: Try, memory: HostMemory, owner: str) -> Try:
    """Count a 403 against the tool once enough owners, each with another key, were refused and none succeeded since."""
    if last.outcome != "refused" or last.status != 403:
        return last
    if not memory.record_refusal(call.tool.id, owner, call.keyed.caller):
        return last
    note = (
        f"{OWNERS} owners of keys or more were refused (403), each with another key, so the tool is taken to be closed"
    )
    return replace(last, outcome="transient", notes=(*last.notes, note))
