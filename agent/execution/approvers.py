"""Approvers that ask nobody: a setting or an option decides in the user's place."""

import logging
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager

from agent.execution.approval import Approver, IntendedCall, describe_side_effect
from agent.text import clean
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.provenance import HostCrossing

DONE_BEFORE = "The same call, or one like it by a text that was dropped, was made before in this run, with success."
_log = logging.getLogger(__name__)


class AllowChangesApprover:
    """Allows every call that does not repeat a change; with ``hosts``, changes are allowed at these hosts only."""

    def __init__(self, hosts: Collection[str] | None = None) -> None:
        self._hosts = hosts

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Allow the call.

        Raises:
            NotAllowedError: it is a change at another host, or one that may have been made already.
        """
        if not call.tool.safe and self._hosts is not None and call.tool.host not in self._hosts:
            raise NotAllowedError(_format_not_called(call, f"Changes are allowed at {', '.join(self._hosts)} only."))
        if call.possible_repeat:
            raise NotAllowedError(
                _format_not_called(call, f"{DONE_BEFORE} Nobody could be asked whether it is to be done again.")
            )
        yield


class DenyChangesApprover:
    """Allows only calls that are known to have no side effects.

    ``how`` ends the error message: it says how changes could be allowed.
    """

    def __init__(self, how: str = "Give the run an approver that asks its user, or allows changes.") -> None:
        self._how = how

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Allow the call; raise ``NotAllowedError`` if it may have side effects."""
        if not call.tool.safe:
            raise NotAllowedError(
                _format_not_called(call, f"{describe_side_effect(call.tool)} Nobody could be asked. {self._how}")
            )
        yield


class DryRunApprover:
    """Refuses calls with side effects and passes them to ``show`` instead, each call of a batch separately."""

    def __init__(self, show: Callable[[IntendedCall], None]) -> None:
        self._show = show

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Allow the call; show a change and raise ``NotAllowedError`` for it."""
        if not call.tool.safe:
            for member in call.approved_together:
                self._show(member)
            raise NotAllowedError(_format_not_called(call, "This is a dry run, which makes no changes."))
        yield


class HostIsolationApprover:
    """Refuses to send values from one host's response to another host; ``next_approver`` decides everything else."""

    def __init__(self, next_approver: Approver) -> None:
        self._next_approver = next_approver

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """Ask the next approver.

        Raises:
            NotAllowedError: a value would cross from one host to another; the message names the hosts and the setting.
        """
        for crossing in call.provenance.crossings:
            _log.warning("%s", describe_refused_crossing(crossing))
            raise NotAllowedError(
                f"{describe_refused_crossing(crossing)} FOOTPATH_FLOWS=allow lets such values go; at a server, its user is asked."
            )
        async with self._next_approver.approval(call) as corrected:
            yield corrected


def describe_refused_crossing(crossing: HostCrossing) -> str:
    """Describe which value was not sent to which host."""
    if not crossing.parameter:
        return (
            f"Whether and how often this is called depends on what {crossing.source} answers, which {crossing.target}, "
            "another host, would learn from it: it was not called."
        )
    return (
        f"The value of {crossing.parameter} stands in an answer of {crossing.source} and was not sent to {crossing.target}, "
        "which is another host."
    )


def _format_not_called(call: IntendedCall, reason: str) -> str:
    return f"{clean(call.tool.api, 80)} was not called. {reason}"
