"""Who approves a run's changes and answers its questions: whoever sits at the terminal, or nobody."""

import asyncio
import sys
from typing import Literal

from _approvals import HOW_ELSE, TerminalApprover, show_change
from _questions import TerminalAsker
from rich.console import Console

from agent.execution.approval import AllowChangesApprover, Approver, DenyChangesApprover, DryRunApprover
from agent.user_questions import NoUser, UserChannel

Changes = Literal["ask", "yes", "dry run"]
"""What becomes of calls that may change something."""


def approver(changes: Changes, executor: str, turn: asyncio.Lock) -> Approver:
    """Who approves the changes of a run. What is replayed changes nothing, so nobody is asked about it."""
    console = Console(stderr=True, highlight=False)
    if changes == "dry run":
        return DryRunApprover(lambda call: show_change(console, call, "Not made, since this is a dry run:"))
    if changes == "yes" or executor == "replay":
        return AllowChangesApprover()
    return TerminalApprover(console, turn) if _at_a_terminal() else DenyChangesApprover(HOW_ELSE)


def asker(turn: asyncio.Lock) -> UserChannel:
    """Who is asked what the request leaves open."""
    return TerminalAsker(Console(stderr=True, highlight=False), turn) if _at_a_terminal() else NoUser()


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
