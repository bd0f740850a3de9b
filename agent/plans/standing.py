"""What stands of the programs that served a run: one text, without the looks at which it was written on."""

from agent.program_trace import ProgramTrace
from agent.programs.stops import LOOK
from agent.transcript import Transcript
from domain.program import Program
from domain.source_text import parse_source


def standing_of(transcript: Transcript) -> Program | None:
    """The program that served a run, all of it; None where steps did, where several parts of the request were served apart, or none came to an end."""
    served = [one for one in transcript.walked if one.steps]
    last = served[0].programs.last if len(served) == 1 and not served[0].given else None
    return None if last is None or not last.calls else standing(last)


def standing(trace: ProgramTrace) -> Program | None:
    """The cells that came to their end, one below the other; None where the last of them did not, or they can no longer be read.

    Their names mean what they meant in each; what was written after an end that stands is left out.
    """
    end = trace.ended
    if end is None or end.number not in trace.cells or trace.broken:
        return None
    numbers = [one for one in sorted(trace.cells) if one in trace.looked and one < end.number]
    cells = [trace.cells[number] for number in (*numbers, end.number)]
    if any(
        name in one.tools and one.tools[name] != tool
        for cell in cells
        for one in cells
        for name, tool in cell.tools.items()
    ):
        return None
    try:
        text = "\n".join([*(_before_its_look(one.text) for one in cells[:-1]), _without_looks(cells[-1].text)])
    except (SyntaxError, ValueError, RecursionError):
        return None
    whole = cells[-1].over(cells[:-1])
    stubs = "\n".join(dict.fromkeys(cell.stubs for cell in cells if cell.stubs))
    return whole.model_copy(update={"text": text, "stubs": stubs, "tainted": any(one.tainted for one in cells)})


def _before_its_look(text: str) -> str:
    """What a cell did before it stopped: what stands below was not run."""
    statements = parse_source(text).statements
    outermost = [one for one in statements if one.outermost]
    first = next((one for one in outermost if one.calls_only == LOOK), None)
    if first is not None:
        return text.encode()[: first.start].decode().rstrip(" \t\n;")
    if not any(one.calls_only == LOOK for one in statements[statements.index(outermost[-1]) :]):
        raise ValueError("it may have stopped before its end")
    return _without_looks(text)


def _without_looks(text: str) -> str:
    """A text with nothing in the places of its looks."""
    source = text.encode()
    looks = [(one.start, one.end) for one in parse_source(text).statements if one.calls_only == LOOK]
    for start, end in sorted(looks, reverse=True):
        whole = start == 0 or source[start - 1 : start] == b"\n"
        if whole and source[end : end + 1] == b"\n":
            source = source[:start] + source[end + 1 :]
        elif whole and end == len(source):
            source = source[: max(start - 1, 0)]
        else:
            source = source[:start] + b"pass" + source[end:]
    return source.decode()
