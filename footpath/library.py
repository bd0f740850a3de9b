"""Implementation of the names that :mod:`footpath` exports, imported when the first one is accessed."""

from domain.errors import BrokenInputError as BrokenInputError
from domain.errors import FootpathError as FootpathError
from domain.errors import NotAllowedError as NotAllowedError
from domain.errors import UnavailableError as UnavailableError
from domain.errors import UsageError as UsageError
from domain.event import EventRecord as EventRecord
from footpath.async_footpath import AsyncFootpath as AsyncFootpath
from footpath.results import Answer as Answer
from footpath.results import Call as Call
from footpath.results import FoundTool as FoundTool
from footpath.results import Offer as Offer
from footpath.results import OfferedTool as OfferedTool
from footpath.results import Reason as Reason
from footpath.results import Tool as Tool
from footpath.sync_footpath import Footpath as Footpath
from footpath.user_callbacks import Change as Change
from footpath.user_callbacks import Question as Question
