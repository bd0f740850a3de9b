"""Assembly of a run's executor from the layers that a call passes before it is sent."""

from collections.abc import Callable, Mapping, Sequence

from agent.budget import BudgetMeter
from agent.execution.approval import AnnouncedCallRegistry, ApprovedExecutor, Approver
from agent.execution.call_cache import CachingExecutor
from agent.execution.call_identity import CallKey
from agent.execution.executor import CallResult, Executor
from agent.execution.provenance import ProvenanceTracker
from agent.execution.undo_candidates import UndoFinder

ExecutorLayerFactory = Callable[[Executor], Executor]
"""Wraps an executor in a layer."""


def build_run_executor(
    sender: Executor,
    layers: Sequence[ExecutorLayerFactory],
    *,
    approver: Approver,
    provenance: ProvenanceTracker,
    meter: BudgetMeter,
    earlier_results: Mapping[CallKey, CallResult],
    announced_calls: AnnouncedCallRegistry,
    undo: UndoFinder,
) -> CachingExecutor:
    """Build the executor of a run. A call passes, in this order:

    1. *reuse*: identical calls are made once, and a failing host is not called again (:class:`CachingExecutor`);
    2. *approval*: the approver allows it, and the budget of changes has room for it (:class:`ApprovedExecutor`);
    3. the caller's ``layers``, the outermost first. The command line has none. The server's
       (``server/runs/run_control.py``) check whether the run may continue, resolve changes whose answer was lost, keep the
       ledger of changes, and check that the user may still use the tool;
    4. ``sender``, which makes the call over HTTP or to an MCP server, with the keys of the user or of the source, or
       answers it from recorded calls.

    ``earlier_results`` holds the calls made before the run was interrupted, ``announced_calls`` those that programs
    announced. ``undo`` finds how a change can be undone.
    """
    executor = sender
    for layer in reversed(layers):
        executor = layer(executor)
    executor = ApprovedExecutor(executor, approver, provenance, meter, earlier_results, announced_calls, undo)
    return CachingExecutor(executor, earlier_results)
