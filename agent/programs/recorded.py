"""What the record of a run holds of one program: the calls that it began and those that ended, by their sites."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.event import CallFinished, ProgramFailed


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """``steps``: of the calls that were told of, by site. ``ended``: those that ended, by site, in the order in which they did.

    ``failed``: how it broke off, where it did; a call that had not ended then has no end.
    """

    steps: Mapping[str, int] = field(default_factory=dict[str, int])
    ended: Mapping[str, CallFinished] = field(default_factory=dict[str, CallFinished])
    failed: ProgramFailed | None = None
