"""The values of a request in a program's text as inputs of it: so that the same program serves the next request with other values."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeGuard, cast

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.plans.literals import NotConstantError, constant
from agent.plans.said_words import words_of
from agent.plans.told_values import Span, Texts
from agent.programs.dependencies import line_starts
from agent.programs.names import TAKEN, identifier, named
from agent.programs.protocol import ASK
from agent.programs.reading import bound_names, called
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.python_source import parse_module
from domain.tool import ToolDoc, ToolId

_COUNTING = (0, 1, 2)
"""Numbers that say nothing of a request but where a call takes them: where counting begins, and by what it goes on."""
_JSON_TYPES: dict[type[object], str] = {int: "integer", float: "number", str: "string"}
_DESCRIPTION = 400


@dataclass(frozen=True, slots=True)
class Liftable:
    """A constant of a text, or a list of them, that the request says. ``said``: its words there. ``schema``: what it may be.

    ``spans``: where it stands, in UTF-8 bytes; ``left_out``: statements that do nothing but give it its name. ``told``: where texts say it;
    ``formatted``: where those of them begin that have to become f-strings. ``lowered``: where it stands in lower case.
    """

    name: str
    value: JsonValue
    said: str
    schema: JsonObject
    spans: tuple[Span, ...]
    left_out: tuple[Span, ...] = ()
    told: tuple[Span, ...] = ()
    formatted: tuple[int, ...] = ()
    lowered: tuple[Span, ...] = ()


def liftable(plan: ProgramPlan, request: str, docs: Mapping[ToolId, ToolDoc] | None = None) -> list[Liftable]:
    """What may be another value next time, beside the plan's inputs, in the order of the text; equal values are one.

    ``docs``: tell what a value may be, as far as there are any.
    """
    try:
        reading = _Reading(plan, request, docs or {})
    except (SyntaxError, ValueError, RecursionError):
        return []
    return reading.found()


def lifted(plan: ProgramPlan, chosen: Sequence[Liftable]) -> ProgramPlan:
    """The plan with inputs in place of these values, which are theirs."""
    text = plan.program.text.encode()
    edits = [(span, one.name) for one in chosen for span in one.spans]
    edits += [(span, "") for one in chosen for span in one.left_out]
    edits += [(span, f"{one.name}.lower()") for one in chosen for span in one.lowered]
    edits += [(span, f"{{{one.name}}}") for one in chosen for span in one.told]
    edits += [((at, at), "f") for at in {at for one in chosen for at in one.formatted}]
    for (start, end), name in sorted(edits, reverse=True):
        text = text[:start] + name.encode() + text[end:]
    return ProgramPlan(
        program=plan.program.model_copy(update={"text": text.decode()}),
        inputs={**plan.inputs, **{one.name: one.schema for one in chosen}},
        values={**plan.values, **{one.name: one.value for one in chosen}},
    )


@dataclass(frozen=True, slots=True)
class _Use:
    """One place of a value: what it is called there, and what it may be."""

    span: Span
    value: JsonValue
    said: str
    name: str = ""
    schema: JsonObject | None = None
    left_out: Span | None = None


class _Reading:
    """One text, and what of it the request says."""

    def __init__(self, plan: ProgramPlan, request: str, docs: Mapping[ToolId, ToolDoc]) -> None:
        self._program = program = plan.program
        self._inputs = plan.inputs
        self._request = request
        self._docs = docs
        self._tree = parse_module(program.text)
        self._starts = line_starts(program.text)
        self._above = {child: node for node in ast.walk(self._tree) for child in ast.iter_child_nodes(node)}
        stored = [
            one.id for one in ast.walk(self._tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        ]
        self._once = {name for name, times in Counter(stored).items() if times == 1}

    def found(self) -> list[Liftable]:
        """Each value once, with a name that nothing else in the text has."""
        by_value: dict[str, list[_Use]] = {}
        for use in sorted(self._uses(), key=lambda one: one.span):
            by_value.setdefault(repr(use.value), []).append(use)
        fixed = TAKEN | self._inputs.keys() | self._program.tools.keys()
        found = [_in_place(one, own, fixed) for one, own in map(self._one, by_value.values())]
        kept = {one.name for one in found if one.left_out}
        others = [one for one in found if not one.left_out]
        names = iter(
            [name for name, _ in named(others, lambda one: (one.name,), fixed | bound_names(self._tree) | kept)]
        )
        found = [one if one.left_out else replace(one, name=next(names)) for one in found]
        texts = Texts(self._program.text, list(filter(self._may_tell, ast.walk(self._tree))))
        values = [span for one in found for span in (*one.spans, *one.left_out)]
        told = texts.told([one.value for one in found], values)
        return [replace(one, told=spans, formatted=begins) for one, (spans, begins) in zip(found, told, strict=True)]

    def _may_tell(self, node: ast.AST) -> TypeGuard[ast.JoinedStr | ast.Constant]:
        """Whether a part is a text for people: not what is given to a tool, compared, or the name of a field."""
        if not isinstance(node, ast.JoinedStr) and not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return False
        while (above := self._above.get(node)) is not None:
            tool = (
                isinstance(above, ast.Call)
                and isinstance(above.func, ast.Name)
                and above.func.id in self._program.tools
            )
            if tool or self._is_place(node) or isinstance(above, ast.Compare | ast.JoinedStr):
                return False
            node = above
        return True

    def _one(self, uses: Sequence[_Use]) -> tuple[Liftable, str]:
        """A value, and what the text itself calls it."""
        first = uses[0]
        name = next((use.name for use in uses if use.name), "value")
        schema = _all_of([use.schema for use in uses if use.schema is not None]) or _schema_by(first.value)
        alone = len(uses) == 1 and first.left_out is not None
        left_out = (first.left_out,) if alone and first.left_out is not None else ()
        spans = tuple(use.span for use in uses)
        return Liftable(identifier(name, "value"), first.value, first.said, schema, spans, left_out), name

    def _uses(self) -> Iterator[_Use]:
        left: list[ast.AST] = [self._tree]
        while left:
            node = left.pop()
            if isinstance(node, ast.JoinedStr) or self._is_place(node):
                continue
            value = self._value(node)
            if value is None:
                left += ast.iter_child_nodes(node)
                continue
            yield self._use(cast("ast.expr", node), *value)

    def _is_place(self, node: ast.AST) -> bool:
        """Whether a part says where a value is, or how far the request is served, and is no value of the request's."""
        above = self._above.get(node)
        match above:
            case ast.Subscript() if node is above.slice:
                return not isinstance(node, ast.Slice)
            case ast.Call(ast.Attribute(_, "get" | "pop" | "setdefault"), [first, *_]) if node is first:
                return True
            case ast.Call(ast.Name("getattr" | "hasattr"), [_, second, *_]) if node is second:
                return True
            case ast.Call(ast.Name("pick"), [_, _, third]) if node is third:
                return True
            case ast.keyword("field") | ast.MatchValue() | ast.MatchMapping():
                return True
            case ast.Call(ast.Name(name)) if name == ASK and node is not above.func:
                return True
            case ast.keyword() if isinstance(call := self._above.get(above), ast.Call):
                return called(call) == ASK
            case ast.Dict():
                answered = [value for key, value in zip(above.keys, above.values, strict=True) if _is_answered(key)]
                return node in above.keys or node in answered
            case _:
                return False

    def _value(self, node: ast.AST) -> tuple[JsonValue, str] | None:
        """A constant that the request says, or a list of such that it says one after the other, with the words."""
        if not isinstance(node, ast.Constant | ast.List | ast.UnaryOp):
            return None
        try:
            value = constant(node)
        except NotConstantError:
            return None
        if value in _COUNTING and not isinstance(self._above.get(node), ast.keyword | ast.Slice):
            return None
        said = words_of(value, self._request)
        return (value, said) if any(one.isalnum() for one in said) else None

    def _use(self, node: ast.expr, value: JsonValue, said: str) -> _Use:
        use = _Use(self._span(node), value, said)
        above = self._above.get(node)
        if isinstance(above, ast.Tuple | ast.List | ast.Set):
            above = self._above.get(above)
        match above:
            case ast.keyword(arg=str() as name) as given if isinstance(call := self._above.get(given), ast.Call):
                return replace(use, **self._of_parameter(call, name, value))
            case ast.Assign([ast.Name(name)]) as statement if name in self._once:
                alone = statement in self._tree.body and statement.value is node
                span = self._line_of(statement) if alone else None
                return replace(use, name=name, left_out=span)
            case ast.comprehension(target=ast.Name(name)) | ast.For(target=ast.Name(name)):
                return replace(use, name=f"{name}_list")
            case ast.Compare(left=compared):
                return replace(use, name=_field(compared))
            case ast.arguments() as function if node in function.defaults:
                own = [*function.posonlyargs, *function.args][-len(function.defaults) :]
                return replace(use, name=own[function.defaults.index(node)].arg)
            case ast.Slice():
                return replace(use, name="number")
            case _:
                return use

    def _of_parameter(self, call: ast.Call, name: str, value: JsonValue) -> dict[str, object]:
        function = call.func.id if isinstance(call.func, ast.Name) else ""
        tool = self._docs.get(self._program.tools.get(function, ToolId("")))
        parameter = self._program.arguments.get(function, {}).get(name, name)
        return {"name": name, "schema": schema_of_value(tool, parameter, value)}

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end

    def _line_of(self, statement: ast.stmt) -> Span | None:
        """The lines of a statement that shares them with nothing; None where it does."""
        end_line = statement.end_lineno or statement.lineno
        start, end = self._starts[statement.lineno - 1], self._starts[min(end_line, len(self._starts) - 1)]
        whole = self._program.text.encode()[start:end]
        span = self._span(statement)
        rest = whole[: span[0] - start] + whole[span[1] - start :]
        return (start, end) if not rest.strip() else None


def _in_place(one: Liftable, own: str, taken: AbstractSet[str]) -> Liftable:
    """With the statement left out that gives a value its name, where the input can have this name; else with the input in the value's place."""
    same = one.name == own and own not in taken
    return replace(one, spans=()) if one.left_out and same else replace(one, left_out=())


def _field(compared: ast.expr) -> str:
    """What a value that is compared is called in what holds it."""
    match compared:
        case ast.Subscript(slice=ast.Constant(str() as key)):
            return key
        case ast.Call(ast.Attribute(held, method), arguments):
            first = arguments[0] if arguments else None
            named = method == "get" and isinstance(first, ast.Constant) and isinstance(first.value, str)
            return str(cast("ast.Constant", first).value) if named else _field(held)
        case ast.Call(ast.Name(), [inner]):
            return _field(inner)
        case _:
            return ""


def _all_of(schemas: Sequence[JsonObject]) -> JsonObject:
    """What fits all of these."""
    told = next((schema["description"] for schema in schemas if "description" in schema), None)
    bare = [{key: value for key, value in schema.items() if key != "description"} for schema in schemas]
    apart: list[JsonValue] = [schema for at, schema in enumerate(bare) if schema not in bare[:at]]
    if len(apart) < 2:
        return schemas[0] if schemas else {}
    both: JsonObject = {"allOf": apart}
    return {**both, "description": told} if told else both


def _is_answered(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "answered"


def schema_of_value(tool: ToolDoc | None, parameter: str, value: JsonValue) -> JsonObject:
    """What a tool's parameter may be, with its description; by the value's own type where nothing is known."""
    own = next((one for one in tool.parameters if one.name == parameter), None) if tool else None
    if own is None:
        return _schema_by(value)
    told: JsonObject = {"description": own.description[:_DESCRIPTION]} if own.description else {}
    return {**value_schema(own), **told}


def _schema_by(value: JsonValue) -> JsonObject:
    if isinstance(value, list):
        kinds = list(dict.fromkeys(_kinds(value)))
        items: JsonObject = {"type": kinds[0]} if len(kinds) == 1 else {}
        return {"type": "array", "items": items}
    kind = _JSON_TYPES.get(type(value))
    return {"type": kind} if kind else {}


def _kinds(values: Iterable[JsonValue]) -> Iterator[str]:
    for value in values:
        yield _JSON_TYPES.get(type(value), "")
