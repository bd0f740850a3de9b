"""What stands of the programs that served a run: one text, without the looks at which it was written on."""

import ast
from typing import TypeGuard

from agent.program_trace import ProgramTrace
from agent.programs.stops import LOOK
from agent.transcript import Transcript
from domain.program import Program


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
    tree = ast.parse(text)
    at = next((one for one in tree.body if _is_look(one)), None)
    if at is not None:
        return "\n".join(text.split("\n")[: at.lineno - 1])
    if not any(map(_is_look, ast.walk(tree.body[-1]))):
        raise ValueError("it may have stopped before its end")
    return _without_looks(text)


def _without_looks(text: str) -> str:
    """A text with nothing in the places of its looks."""
    lines = text.split("\n")
    looks = [one for one in ast.walk(ast.parse(text)) if _is_look(one)]
    for look in sorted(looks, key=lambda one: one.lineno, reverse=True):
        first, last = look.lineno - 1, look.end_lineno or look.lineno
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        lines[first:last] = [f"{indent}pass"] if indent else []
    return "\n".join(lines)


def _is_look(node: ast.AST) -> TypeGuard[ast.Expr]:
    value = node.value if isinstance(node, ast.Expr) else None
    called = value.value if isinstance(value, ast.Await) else value
    return isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == LOOK
