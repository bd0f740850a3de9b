"""Refused keys: replacement of a key after a 401, and many refusals (403) as evidence against the tool."""

from dataclasses import replace

from agent.execution.host_memory import MIN_REFUSED_OWNERS, HostMemory
from agent.execution.http.attempt import AttemptResult, CallInProgress
from agent.execution.http.credentials import add_credentials
from agent.execution.secret_store import SecretStore
from domain.errors import SecretError

NEW_KEY_NOTE = "its key was refused and obtained anew; the call was made once more with it"
_NOT_REPEATED_NOTE = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


async def renew_refused_keys(call: CallInProgress, last: AttemptResult, secrets: SecretStore) -> AttemptResult | None:
    """Replace keys that were refused (401).

    Return None if the call should be sent once more with the new keys, else the attempt. A refusal should mean that
    nothing was done, but not every server keeps to that, so only repeatable calls are sent again.
    """
    if last.status != 401 or not call.keyed_request.sent_values:
        return last
    try:
        replaced = [await secrets.replace_refused(name, value) for name, value in call.keyed_request.sent_values]
        if not any(replaced):
            return last
        if not call.tool.repeatable:
            return replace(last, notes=(*last.notes, _NOT_REPEATED_NOTE))
        call.keyed_request = await add_credentials(call.keyed_request.request, call.tool, secrets)
    except SecretError as error:
        return replace(last, notes=(*last.notes, str(error)))
    return None


def weigh_refusal(call: CallInProgress, last: AttemptResult, memory: HostMemory, owner: str) -> AttemptResult:
    """Count a 403 against the tool once enough owners with different keys were refused and none was answered since."""
    if last.outcome != "refused" or last.status != 403:
        return last
    if not memory.record_refusal(call.tool.id, owner, call.keyed_request.caller_digest):
        return last
    note = f"{MIN_REFUSED_OWNERS} owners of keys or more were refused (403), each with another key, so the tool is taken to be closed"
    return replace(last, outcome="transient", notes=(*last.notes, note))
