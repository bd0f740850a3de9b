"""What whoever gives leave is told of a program's calls before they are made: of what, where and together with which."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent.execution.announcements import Announced, Announcements
from agent.execution.identity import program_with
from agent.programs.analysis.slices import Setting, SlicedProgram
from domain.model import JsonObject
from domain.program import Program
from domain.slice import Slice
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A call that a program waits for, by its tool's own names. ``start``, ``end``: of its expression in the cell's text, in UTF-8 bytes.

    ``back``: 0, or of how many cells before that text is. ``open``: arguments that the text leaves open.
    """

    identity: str
    function: str
    tool: ToolDoc
    arguments: JsonObject
    start: int
    end: int
    back: int = 0
    open: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SubtaskLeave:
    """Of a subtask's programs. ``said``: what the user said. ``inputs``: names that hold values already, each with the tool that it came from; ``own``:
    names of a plan's inputs, to which the user gave their values. ``files``: names that hold files of the user's, each with what the user calls it.
    """

    announcements: Announcements
    said: Sequence[str] = ()
    inputs: Mapping[str, ToolId] = field(default_factory=dict[str, ToolId])
    own: Collection[str] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    def of(
        self, program: Program, cells: Sequence[str], tools: Mapping[str, ToolId], numbers: Sequence[int] = ()
    ) -> "ProgramLeave":
        """Of one cell. ``cells``: the texts that its session ran before it, empty where their names do not hold; ``numbers``: of the cells that
        hold; ``tools``: the functions that those could call.
        """
        return ProgramLeave(self, program, cells, {**tools, **program.tools}, numbers)


@dataclass(frozen=True)
class ProgramLeave:
    """Of one cell that is run."""

    subtask: SubtaskLeave
    program: Program
    cells: Sequence[str]
    tools: Mapping[str, ToolId]
    numbers: Sequence[int] = ()
    _slices: dict[tuple[str, int, int, int], tuple[Slice, ...]] = field(
        default_factory=dict[tuple[str, int, int, int], tuple[Slice, ...]]
    )

    _controls: dict[tuple[str, int, int, int], Slice] = field(default_factory=dict[tuple[str, int, int, int], Slice])

    def tell(self, calls: Iterable[WaitingCall]) -> None:
        """These calls wait to be made."""
        self.subtask.announcements.tell(self._announced(call) for call in calls)

    def slices(self, call: WaitingCall) -> tuple[Slice, ...]:
        """Of the arguments that the text has values for."""
        place = call.function, call.start, call.end, call.back
        if place not in self._slices:
            self._slices[place] = self._sliced.slices(*place)
            self.control(call)  # a long text takes its time, and this is asked for in a thread first
        return tuple(one for one in self._slices[place] if one.parameter not in call.open)

    def control(self, call: WaitingCall) -> Slice | None:
        """What decides whether and how often it is made; None where its author was shown nothing foreign before it was written."""
        if not self.program.tainted:
            return None
        place = call.function, call.start, call.end, call.back
        if place not in self._controls:
            self._controls[place] = self._sliced.control(*place)
        return self._controls[place]

    def _announced(self, call: WaitingCall) -> Announced:
        place = call.function, call.start, call.end, call.back
        return Announced(
            call.identity,
            call.tool,
            call.arguments,
            self.slices(call),
            tainted=self.program.tainted,
            control=self.control(call),
            text=self.program.text,
            open=call.open,
            in_loop=self._sliced.in_loop(*place),
            cells=frozenset(program_with(call.identity, number) for number in self.numbers),
        )

    @cached_property
    def _sliced(self) -> SlicedProgram:
        inputs = {"today": ToolId("")} | dict(self.subtask.inputs)
        setting = Setting(
            self.tools, self.program.arguments, self.subtask.said, inputs, self.subtask.own, self.subtask.files
        )
        return SlicedProgram([*self.cells, self.program.text], setting)
