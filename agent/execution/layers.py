"""The executor of one run, put together: what every call passes before it is sent."""

from collections.abc import Callable, Mapping, Sequence

from agent.budget import Meter
from agent.execution.announcements import Announcements
from agent.execution.approval import ApprovedExecutor, Approver
from agent.execution.call_cache import ReusingExecutor
from agent.execution.executor import CallResult, Executor
from agent.execution.identity import Key
from agent.execution.provenance import Provenance
from agent.execution.undo import Undo

Layer = Callable[[Executor], Executor]
"""Puts something around an executor."""


def build_executor(
    sender: Executor,
    layers: Sequence[Layer],
    *,
    approver: Approver,
    provenance: Provenance,
    meter: Meter,
    made: Mapping[Key, CallResult],
    announcements: Announcements,
    undo: Undo,
) -> ReusingExecutor:
    """Everything that a call of a run passes, in this order:

    1. *reuse*: the same call is made once, and a host that does not answer is left alone (:class:`ReusingExecutor`);
    2. *approval*: whoever is asked has allowed it, and the budget of changes has room for it (:class:`ApprovedExecutor`);
    3. ``layers`` of whoever makes the run, the outermost first. A command has none. A server's (``server/runs/control.py``): may the run
       still go on, what became of a change whose answer was lost, the ledger of changes, is the tool still offered to this user;
    4. ``sender``, which makes the call: over HTTP or to an MCP server, with the keys of the user or of the source, or from recorded calls.

    ``made``: calls that were made before the run was broken off. ``announcements``: what programs tell of their calls before they are
    made. ``undo``: tells how a change is taken back.
    """
    executor = sender
    for layer in reversed(layers):
        executor = layer(executor)
    executor = ApprovedExecutor(executor, approver, provenance, meter, made, announcements, undo)
    return ReusingExecutor(executor, made)
