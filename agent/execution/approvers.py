"""Approvers that ask nobody: what a setting or an option says in the user's stead."""

import logging
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager

from agent.execution.approval import Approver, IntendedCall, why_asked
from agent.text import clean
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.origin import Crossing

DONE_BEFORE = "The same call, or one like it by a text that was dropped, was made before in this run, with success."
_log = logging.getLogger(__name__)


class AllowChanges:
    """Every call is made. ``hosts``: changes only there, where they are given."""

    def __init__(self, hosts: Collection[str] | None = None) -> None:
        self._hosts = hosts

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """``NotAllowedError``: it would change something at another host, or do again what was done."""
        if not call.tool.safe and self._hosts is not None and call.tool.host not in self._hosts:
            raise NotAllowedError(_not_called(call, f"Changes are allowed at {', '.join(self._hosts)} only."))
        if call.again:
            raise NotAllowedError(
                _not_called(call, f"{DONE_BEFORE} Nobody could be asked whether it is to be done again.")
            )
        yield


class DenyChanges:
    """Only calls that are known to change nothing are made. ``how``: says how others would be allowed."""

    def __init__(self, how: str = "Give the run an approver that asks its user, or allows changes.") -> None:
        self._how = how

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """``NotAllowedError`` for what may change something."""
        if not call.tool.safe:
            raise NotAllowedError(_not_called(call, f"{why_asked(call.tool)} Nobody could be asked. {self._how}"))
        yield


class DryRun:
    """Calls that may change something are shown and not made; those that wait together are all shown. ``show``: what shows one."""

    def __init__(self, show: Callable[[IntendedCall], None]) -> None:
        self._show = show

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """``NotAllowedError`` for what was shown."""
        if not call.tool.safe:
            for one in call.together:
                self._show(one)
            raise NotAllowedError(_not_called(call, "This is a dry run, which makes no changes."))
        yield


class KeepHostsApart:
    """No value of a host's response goes to another host; everything else is up to the next approver."""

    def __init__(self, then: Approver) -> None:
        self._then = then

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """``NotAllowedError`` names the hosts, and the setting that lets all values go."""
        for crossing in call.judged.crossings:
            _log.warning("%s", refused(crossing))
            raise NotAllowedError(
                f"{refused(crossing)} FOOTPATH_FLOWS=allow lets such values go; at a server, its user is asked."
            )
        async with self._then.approval(call) as corrected:
            yield corrected


def refused(crossing: Crossing) -> str:
    """That a value does not go where a call would send it."""
    if not crossing.parameter:
        return (
            f"Whether and how often this is called depends on what {crossing.source} answers, which {crossing.target}, "
            "another host, would learn from it: it was not called."
        )
    return (
        f"The value of {crossing.parameter} stands in an answer of {crossing.source} and was not sent to {crossing.target}, "
        "which is another host."
    )


def _not_called(call: IntendedCall, why: str) -> str:
    return f"{clean(call.tool.api, 80)} was not called. {why}"
