"""What the record of a run holds of one program: the calls that it began and those that ended, each by its place and arguments."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from agent.execution.identity import Key
from domain.event import CallFinished, ProgramFailed, QuestionAnswered
from domain.model import JsonObject
from domain.tool import ToolId


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """``steps``: of the calls that were told of. ``ended``: those that ended, in the order in which they did. The identity of their keys is
    their site.

    ``answered``: its questions, by their sites. ``failed``: how it broke off, where it did; a call that had not ended then has no end.
    """

    steps: Mapping[Key, int] = field(default_factory=dict[Key, int])
    ended: Mapping[Key, CallFinished] = field(default_factory=dict[Key, CallFinished])
    answered: Mapping[str, QuestionAnswered] = field(default_factory=dict[str, QuestionAnswered])
    failed: ProgramFailed | None = None

    def completed(self, tool: ToolId, place: str, given: JsonObject, taken: Collection[Key]) -> Key | None:
        """The call at a place of the text (``2:57``) of which not all arguments are known yet, but for those that are ``taken`` already."""
        for key in self.steps:
            if key[0] == tool and key[2].partition("#")[0] == place and key not in taken:
                arguments = json.loads(key[1])
                if all(name in arguments and arguments[name] == value for name, value in given.items()):
                    return key
        return None
