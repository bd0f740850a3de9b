"""All that :mod:`footpath` exports, imported when the first of it is asked for."""

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
