"""Footpath as a library: find tools, ask, run a program, learn (docs/python.md). What stands here is what later versions keep."""

from domain.errors import BrokenInputError, FootpathError, NotAllowedError, UnavailableError, UsageError
from domain.event import EventRecord
from footpath.asynchronous import AsyncFootpath
from footpath.results import Answer, Call, FoundTool, Offer, OfferedTool, Reason, Tool
from footpath.synchronous import Footpath
from footpath.user import Change, Question

__all__ = [
    "Answer",
    "AsyncFootpath",
    "BrokenInputError",
    "Call",
    "Change",
    "EventRecord",
    "Footpath",
    "FootpathError",
    "FoundTool",
    "NotAllowedError",
    "Offer",
    "OfferedTool",
    "Question",
    "Reason",
    "Tool",
    "UnavailableError",
    "UsageError",
]
