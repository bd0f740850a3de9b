"""After a key was refused (401): whether another was obtained in its place, and whether the call may be made with it."""

from dataclasses import replace

from agent.execution.http.attempt import Call, Try
from agent.execution.http.credentials import keyed
from agent.execution.secrets import Secrets
from domain.errors import SecretError

AGAIN = "its key was refused and obtained anew; the call was made once more with it"
_NOT_AGAIN = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


async def with_new_keys(call: Call, last: Try, secrets: Secrets) -> Try | None:
    """The attempt as it is to be told; None where the call, whose keys are new now, is to be made once more.

    A refusal says that nothing was done, but not every server keeps to that: what changes something is left to who asked.
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
