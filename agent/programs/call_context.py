"""Context of a program's calls for their approver, computed before the calls are made."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent.execution.approval import AnnouncedCall, AnnouncedCallRegistry
from agent.execution.call_identity import build_program_id
from agent.programs.analysis.slices import SliceContext, SlicedProgram
from domain.model import JsonObject
from domain.program import Program
from domain.provenance import Slice
from domain.tool import ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class LocatedCall:
    """A call that a program waits for, with its place in the program's text and the parameter names of its tool."""

    identity: str
    """Identity of the call in the run, the same when the run is resumed."""
    function: str
    tool: ToolDoc
    arguments: JsonObject
    start: int
    """Start of its expression in the cell's text, in UTF-8 bytes."""
    end: int
    """End of its expression in the cell's text, in UTF-8 bytes."""
    back: int = 0
    """Number of cells back to the one with that text; 0: the running cell."""
    open_arguments: frozenset[str] = frozenset()
    """Arguments that the program leaves open."""


@dataclass(frozen=True, slots=True)
class SubtaskCallContext:
    """Context that all programs of one subtask share."""

    announcements: AnnouncedCallRegistry
    """Registry in which calls are announced to their approver."""
    user_texts: Sequence[str] = ()
    """Texts that the user wrote."""
    value_origins: Mapping[str, ToolId] = field(default_factory=dict[str, ToolId])
    """Variables that already hold values, with the tools whose responses these are."""
    user_inputs: Collection[str] = ()
    """Names of a plan's inputs, whose values the user gave."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that hold the user's files, with the names of the files."""

    def build_cell_context(
        self,
        program: Program,
        earlier_texts: Sequence[str],
        tools: Mapping[str, ToolId],
        valid_numbers: Sequence[int] = (),
    ) -> "CellCallContext":
        """Return the context of one cell.

        Arguments:
            program: The program of the cell.
            earlier_texts: Texts that its session ran before, empty where their names are no longer valid.
            tools: Functions that those texts could call.
            valid_numbers: Numbers of the cells whose names are valid.
        """
        return CellCallContext(self, program, earlier_texts, {**tools, **program.tools}, valid_numbers)


@dataclass(frozen=True)
class CellCallContext:
    """Context of the calls of one cell."""

    subtask: SubtaskCallContext
    program: Program
    """The program of the cell."""
    earlier_texts: Sequence[str]
    """Texts that the session ran before, empty where their names are no longer valid."""
    tools: Mapping[str, ToolId]
    """Tools of all functions that the texts can call, by function name."""
    valid_numbers: Sequence[int] = ()
    """Numbers of the earlier cells whose names are valid."""
    _slices: dict[tuple[str, int, int, int], tuple[Slice, ...]] = field(
        default_factory=dict[tuple[str, int, int, int], tuple[Slice, ...]]
    )
    """Slices of arguments found so far, by function, start, end and cell of the call."""
    _controls: dict[tuple[str, int, int, int], Slice] = field(default_factory=dict[tuple[str, int, int, int], Slice])
    """Slices of control flow found so far, by the same key."""

    def announce(self, calls: Iterable[LocatedCall]) -> None:
        """Announce calls that wait to be made, so that they can be approved together."""
        self.subtask.announcements.add(self._to_announced_call(call) for call in calls)

    def find_slices(self, call: LocatedCall) -> tuple[Slice, ...]:
        """Return the slices of the arguments that the text has values for, not of those that it leaves open."""
        place = call.function, call.start, call.end, call.back
        if place not in self._slices:
            self._slices[place] = self._sliced_program.slice_arguments(*place)
            self.find_control(call)  # fills the other cache too: slicing is slow, and only this method runs in a thread
        return tuple(
            argument_slice
            for argument_slice in self._slices[place]
            if argument_slice.parameter not in call.open_arguments
        )

    def find_control(self, call: LocatedCall) -> Slice | None:
        """Return the slice of what decides whether and how often the call is made.

        None if the program is not tainted: its author has seen no words of others that could have steered it.
        """
        if not self.program.tainted:
            return None
        place = call.function, call.start, call.end, call.back
        if place not in self._controls:
            self._controls[place] = self._sliced_program.slice_control(*place)
        return self._controls[place]

    def _to_announced_call(self, call: LocatedCall) -> AnnouncedCall:
        """Return a call with everything that its approver is shown."""
        place = call.function, call.start, call.end, call.back
        return AnnouncedCall(
            call.identity,
            call.tool,
            call.arguments,
            self.find_slices(call),
            tainted=self.program.tainted,
            control=self.find_control(call),
            program_text=self.program.text,
            open_arguments=call.open_arguments,
            in_loop=self._sliced_program.is_in_loop(*place),
            earlier_cells=frozenset(build_program_id(call.identity, number) for number in self.valid_numbers),
        )

    @cached_property
    def _sliced_program(self) -> SlicedProgram:
        origins = {"today": ToolId("")} | dict(self.subtask.value_origins)
        slice_context = SliceContext(
            self.tools,
            self.program.arguments,
            self.subtask.user_texts,
            origins,
            self.subtask.user_inputs,
            self.subtask.files,
        )
        return SlicedProgram([*self.earlier_texts, self.program.text], slice_context)
