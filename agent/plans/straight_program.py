"""The calls of a program as steps: of one that calls one thing after the other, each with fixed values or with fields of earlier answers.

What a program repeats, chooses or computes, no list of steps can say.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from pydantic.types import JsonValue

from agent.plans.json_place import value_at
from agent.program_trace import ProgramTrace
from agent.programs.dependencies import Site, line_starts, unpacked
from domain.errors import NotLinearError
from domain.plan import CORRECTED, Binding, StepResult
from domain.program import Program

_ONCE = ast.Expr | ast.Assign | ast.AnnAssign
_NOT_EACH_TIME = (
    ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda | ast.IfExp | ast.BoolOp | ast.NamedExpr
)
Place = tuple[Site, str]
"""A call, and a field of its answer."""


def as_steps(trace: ProgramTrace, request: str) -> dict[int, StepResult]:
    """The results of a program's calls by step, each with where its values come from, as a walk's have it.

    Raises:
        NotLinearError: steps cannot say what it does; the message says where.
    """
    try:
        reading = _Straight(trace.cells)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotLinearError("the program of this run can no longer be read as steps; ask anew") from error
    often = Counter(site for site, _ in trace.by_site)
    made = dict(zip((site for site, _ in trace.by_site), sorted(trace.calls), strict=True))
    found: dict[int, StepResult] = {}
    for site, result in trace.by_site:
        if site not in reading.calls or often[site] > 1:
            raise _not_linear(reading, site, "makes its calls in a loop, or only where something is so")
        bindings = tuple(_bindings(reading, trace, site, made, request))
        found[made[site]] = result.model_copy(update={"provenance": bindings})
    return found


def _bindings(
    reading: "_Straight", trace: ProgramTrace, site: Site, made: Mapping[Site, int], request: str
) -> Iterator[Binding]:
    """Where each argument of a call comes from: a field of an answer, or words of the request; what stands nowhere else stays as it is."""
    result, told = trace.calls[made[site]][1], reading.arguments(site)
    for parameter, expression in told:
        value, place = result.arguments.get(parameter), reading.place_of(expression)
        if value is None:
            continue  # it was left out
        if value != result.wanted.get(parameter):
            yield Binding(parameter=parameter, origin="user", reference=CORRECTED)
            continue
        if place is not None and place[0] in made:
            step = made[place[0]]
            if not _same(value_at(trace.calls[step][1].response, place[1]), value):
                raise _not_linear(reading, site, f"takes {parameter} from what no answer holds as such")
            yield Binding(parameter=parameter, origin="step", reference=f"{step}.{place[1]}")
        elif reading.is_fixed(expression):
            words = _words(value, request)
            yield Binding(parameter=parameter, origin="request" if words else "default", reference=words)
        else:
            raise _not_linear(reading, site, f"computes or chooses the value of {parameter}")
    named = {parameter for parameter, _ in told}
    yield from (one for one in result.provenance if one.parameter not in named)


def _same(there: JsonValue, value: JsonValue) -> bool:
    return there is not None and (there == value or (not isinstance(there, (dict, list)) and str(there) == str(value)))


def _words(value: JsonValue, request: str) -> str:
    """The words of a request that a value is, as they stand there; empty where it is none."""
    if isinstance(value, (bool, list, dict)) or value is None or not str(value).strip():
        return ""
    found = re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", request, re.IGNORECASE)
    return found[0] if found else ""


def _not_linear(reading: "_Straight", site: Site, what: str) -> NotLinearError:
    line = f"line {reading.line_of(site)} of its program"
    return NotLinearError(f"this run cannot be told as steps: {line} {what}. Run it again as it is, or ask anew")


class _Straight:
    """The calls that a program makes once, whatever is answered, and the names that hold one value from beginning to end."""

    def __init__(self, cells: Mapping[int, Program]) -> None:
        """Read all cells of a program; ``SyntaxError`` and the like where that is not possible."""
        self.calls: dict[Site, ast.Call] = {}
        self._cells = cells
        self._names: dict[str, ast.expr] = {}
        self._sites: dict[ast.AST, Site] = {}
        stored = Counter[str]()
        for number in sorted(cells):
            tree = ast.parse(cells[number].text)
            stored.update(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and _binds(one))
            starts = line_starts(cells[number].text)
            for statement in (one for one in tree.body if isinstance(one, _ONCE)):
                self._assigned(statement)
                for call in _calls(statement, cells[number].tools):
                    self._sites[call] = number, starts[call.lineno - 1] + call.col_offset
        self.calls = {site: call for call, site in self._sites.items() if isinstance(call, ast.Call)}
        self._names = {name: value for name, value in self._names.items() if stored[name] == 1}

    def _assigned(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                self._names[name] = value
            case ast.Assign([ast.Tuple(targets) | ast.List(targets)], value) if len(targets) == len(unpacked(value)):
                for target, part in zip(targets, unpacked(value), strict=True):
                    if isinstance(target, ast.Name):
                        self._names[target.id] = part
            case _:
                return

    def arguments(self, site: Site) -> list[tuple[str, ast.expr]]:
        """Of a call, by the names of its tool's parameters."""
        call = self.calls[site]
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        names = self._cells[site[0]].arguments.get(name, {})
        return [(names.get(one.arg, one.arg), one.value) for one in call.keywords if one.arg]

    def place_of(self, value: ast.expr) -> Place | None:
        """The field of a call's answer that a value is; None where it is anything else."""
        match value:
            case ast.Await(inner):
                return self.place_of(inner)
            case ast.Name(name) if name in self._names:
                return self.place_of(self._names[name])
            case ast.Call() if value in self._sites:
                return self._sites[value], ""
            case (
                ast.Subscript(held, ast.Constant(part))
                | ast.Call(func=ast.Attribute(held, "get"), args=[ast.Constant(part), *_])
            ):
                place = self.place_of(held)
                return None if place is None else _within(place, part)
            case _:
                return None

    def is_fixed(self, value: ast.expr) -> bool:
        """Whether it is a constant of the program."""
        if isinstance(value, ast.Name) and value.id in self._names:
            return self.is_fixed(self._names[value.id])
        try:
            ast.literal_eval(value)
        except (ValueError, TypeError):
            return False
        return True

    def line_of(self, site: Site) -> int:
        """The line of its text, from 1, that a call is on."""
        return self._cells[site[0]].text.encode()[: site[1]].count(b"\n") + 1


def _binds(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _calls(node: ast.AST, tools: Collection[str]) -> Iterator[ast.Call]:
    """The calls of tools within a statement that are made once whenever it is come to."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools:
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _NOT_EACH_TIME):
            yield from _calls(child, tools)


def _within(place: Place, part: object) -> Place | None:
    site, held = place
    match part:
        case bool() | float() | complex() | bytes() | None:
            return None
        case int() if part >= 0:
            return site, f"{held}[{part}]"
        case str() if part and not re.search(r"[.\[\]]", part):
            return site, f"{held}.{part}" if held else part
        case _:
            return None
