"""What the record of a run holds of one program: the calls that it began and those that ended, each by its place and arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.execution.identity import Key
from domain.event import CallFinished, ProgramFailed, QuestionAnswered


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
