"""Join the cells that served a run into one program, without the calls that only look at values."""

from agent.program_trace import ProgramTrace
from agent.programs.sandbox_cell import LOOK
from agent.transcript import RunTranscript
from domain.program import Program
from domain.source_text import parse_source


def find_effective_program(transcript: RunTranscript) -> Program | None:
    """Return the program that served a run, as one text.

    None if steps served the run, if several subtasks did, or if no program reached its end.
    """
    served = [one for one in transcript.ordered_subtasks if one.steps]
    last = served[0].programs.last if len(served) == 1 and not served[0].prior_count else None
    return None if last is None or not last.calls else build_effective_program(last)


def build_effective_program(trace: ProgramTrace) -> Program | None:
    """Return the cells of a program as one; None if it did not finish, or its cells cannot be joined.

    They cannot be joined if a name stands for different tools in them. Cells after the final end are ignored.
    """
    end = trace.ended
    if end is None or end.number not in trace.cells or trace.broken:
        return None
    numbers = [one for one in sorted(trace.cells) if one in trace.inspected and one < end.number]
    cells = [trace.cells[number] for number in (*numbers, end.number)]
    if any(
        name in one.tools and one.tools[name] != tool
        for cell in cells
        for one in cells
        for name, tool in cell.tools.items()
    ):
        return None
    try:
        text = "\n".join([*(_cut_at_look(one.text) for one in cells[:-1]), _remove_looks(cells[-1].text)])
    except (SyntaxError, ValueError, RecursionError):
        return None
    combined = cells[-1].combine_with(cells[:-1])
    stubs = "\n".join(dict.fromkeys(cell.stubs for cell in cells if cell.stubs))
    return combined.model_copy(update={"text": text, "stubs": stubs, "tainted": any(one.tainted for one in cells)})


def _cut_at_look(text: str) -> str:
    """Return the part of a cell that ran before it stopped to look at values.

    Raises:
        ValueError: It may have stopped at a look within a loop or a branch, so that the part is not known.
    """
    statements = parse_source(text).statements
    outermost = [one for one in statements if one.outermost]
    first = next((one for one in outermost if one.only_called == LOOK), None)
    if first is not None:
        return text.encode()[: first.start].decode().rstrip(" \t\n;")
    if not any(one.only_called == LOOK for one in statements[statements.index(outermost[-1]) :]):
        raise ValueError("it may have stopped before its end")
    return _remove_looks(text)


def _remove_looks(text: str) -> str:
    """Return a text without its calls that look at values."""
    source = text.encode()
    looks = [(one.start, one.end) for one in parse_source(text).statements if one.only_called == LOOK]
    for start, end in sorted(looks, reverse=True):
        starts_line = start == 0 or source[start - 1 : start] == b"\n"
        if starts_line and source[end : end + 1] == b"\n":
            source = source[:start] + source[end + 1 :]
        elif starts_line and end == len(source):
            source = source[: max(start - 1, 0)]
        else:
            # Another statement shares the line, or a block would be left empty.
            source = source[:start] + b"pass" + source[end:]
    return source.decode()
