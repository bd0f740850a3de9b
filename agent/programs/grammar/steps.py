"""Compilation of each kind of step to lines of a program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from agent.programs.grammar.expressions import (
    PathLookup,
    make_comparable,
    make_number,
    make_sortable,
    render_text,
    render_value,
)
from agent.programs.grammar.paths import FieldKey, ValuePath, parse_path
from agent.programs.grammar.scope import (
    INTEGER,
    NUMBER,
    TEXT,
    CompileScope,
    ProgramExpression,
    ValueFacts,
    make_list,
    render_conditions,
)
from agent.programs.grammar.sentence import (
    Argument,
    Calculate,
    Call,
    Compare,
    FieldOf,
    Figure,
    First,
    ForEach,
    Join,
    Listed,
    Look,
    Pick,
    Ranked,
    Step,
    Where,
)
from agent.programs.signatures import ToolSignature
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, JsonShape


@dataclass(slots=True)
class _NestedArgument:
    """An object argument whose fields are set one by one; ``str()`` renders it as a dict literal."""

    fields: "dict[str, str | _NestedArgument]" = field(default_factory=dict[str, "str | _NestedArgument"])

    def put(self, names: Sequence[str], expression: str) -> None:
        """Set a nested field.

        Args:
            names: names of the fields from the outermost to the innermost.
            expression: code of the value.

        Raises:
            InvalidDecisionError: the field is set already.
        """
        here = self
        for name in names[:-1]:
            inner = here.fields.setdefault(name, _NestedArgument())
            if isinstance(inner, str):
                raise InvalidDecisionError(f"{'.'.join(names)} is given twice")
            here = inner
        if names[-1] in here.fields:
            raise InvalidDecisionError(f"{'.'.join(names)} is given twice")
        here.fields[names[-1]] = expression

    def __str__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {one}' for name, one in self.fields.items())}}}"


def render_arguments(
    arguments: Sequence[Argument], function: ToolSignature, lookup: PathLookup
) -> tuple[str, tuple[str, ...]]:
    """Return the code of a call's arguments, and the conditions under which they can be evaluated.

    Raises:
        InvalidDecisionError: a parameter or a value does not exist, or a required parameter is not given.
    """
    tree = _NestedArgument()
    needs: list[str] = []
    for argument in arguments:
        path = parse_path(argument.parameter)
        names = [path.root, *(part.name for part in path.parts if isinstance(part, FieldKey))] if path else []
        if path is None or len(names) <= len(path.parts):
            raise InvalidDecisionError(f"{argument.parameter[:60]!r} names no parameter of {function.name}")
        expression = render_value(argument.value, lookup, _find_shape(function, names))
        needs += expression.needs
        tree.put(names, expression.text)
    missing = [*_list_missing(tree, function.takes)]
    if missing:
        raise InvalidDecisionError(f"{function.name} needs {', '.join(missing)} as well")
    return ", ".join(f"{name}={argument}" for name, argument in tree.fields.items()), tuple(dict.fromkeys(needs))


def _list_missing(tree: _NestedArgument, shape: JsonShape, before: str = "") -> Iterator[str]:
    """Yield the paths of required fields that are not given."""
    for name, field_shape in shape.fields.items():
        inner = tree.fields.get(name)
        if inner is None and name in shape.required:
            yield f"{before}{name}"
        elif isinstance(inner, _NestedArgument):
            yield from _list_missing(inner, field_shape, f"{before}{name}.")


def _find_shape(function: ToolSignature, names: Sequence[str]) -> JsonShape:
    """Return the shape of a parameter, or of a nested field of it."""
    if names[0] not in function.arguments:
        own = ", ".join(function.arguments) or "none"
        raise InvalidDecisionError(f"{function.name} has no parameter {names[0]!r}; it has {own}")
    shape = function.takes
    for number, name in enumerate(names):
        if shape.fields and name not in shape.fields:
            own = ", ".join(shape.fields)
            raise InvalidDecisionError(f"{'.'.join(names[:number])} has no field {name!r}; it has {own}")
        shape = shape.fields.get(name, UNKNOWN)
    return shape


_MAX_FUNCTIONS = 30
_ITEM = "item"


@singledispatch
def write_step(step: Step, scope: CompileScope) -> None:  # noqa: ARG001  that of all kinds
    """Write the lines of a step into the scope.

    Raises:
        InvalidDecisionError: the step is invalid; the message says why and what exists instead.
    """
    raise InvalidDecisionError(f"{step.do} is no kind of step")


@write_step.register
def _write_call(step: Call, scope: CompileScope) -> None:
    """Write one call."""
    function = _find_function(step.function, scope)
    arguments, needs = render_arguments(step.arguments, function, scope.find)
    scope.require(needs)
    scope.hold(step.name, f"await {function.name}({arguments})", ValueFacts(function.returns))


@write_step.register
def _write_for_each(step: ForEach, scope: CompileScope) -> None:
    """Write concurrent calls for the items of a list, and zip the items with the results."""
    function = _find_function(step.function, scope)
    items = _find_list(step.of, scope)
    item = ProgramExpression(_ITEM, items.known.item)
    arguments, needs = render_arguments(step.arguments, function, lambda path: scope.find(path, item))
    own, outer = _split_conditions(needs)
    scope.require((*items.needs, *outer))
    source = items.text
    if own or not source.isidentifier():
        source = scope.make_variable(f"{step.name}_items")
        scope.write_line(
            f"{source} = {items.text if not own else f'[{_ITEM} for {_ITEM} in {items.text}{render_conditions(own)}]'}"
        )
    scope.at_once = True
    results = f"await asyncio.gather(*[{function.name}({arguments}) for {_ITEM} in {source}])"
    pair = ValueFacts(pair=(items.known.item, ValueFacts(function.returns)))
    scope.hold(step.name, f"list(zip({source}, {results}))", make_list(pair))


@write_step.register
def _write_list(step: Listed, scope: CompileScope) -> None:
    """Write a list of values. Facts about its items are known only if they are the same for all."""
    expressions = [render_value(given, scope.find) for given in step.values]
    if not expressions:
        raise InvalidDecisionError("a list needs one value at least")
    scope.require(need for one in expressions for need in one.needs)
    alike = len({one.known for one in expressions if not one.known.pair}) == 1
    scope.hold(
        step.name,
        f"[{', '.join(one.text for one in expressions)}]",
        make_list(expressions[0].known if alike else ValueFacts()),
    )


@write_step.register
def _write_field(step: FieldOf, scope: CompileScope) -> None:
    """Write a variable for the value at a path."""
    expression = _find_expression(step.of, scope).non_null
    scope.require(expression.needs)
    scope.hold(step.name, expression.text, expression.known)


@write_step.register
def _write_first(step: First, scope: CompileScope) -> None:
    """Write the first item of a list, guarded against an empty one."""
    items = _hold_list(step.of, step.name, scope)
    scope.require((items.text,))
    scope.hold(step.name, f"{items.text}[0]", items.known.item)


@write_step.register
def _write_pick(step: Pick, scope: CompileScope) -> None:
    """Write the choice of the item most similar to a text, guarded against no match."""
    items = _find_list(step.of, scope)
    field = _find_in_item(step.field, ProgramExpression(_ITEM, items.known.item), scope)
    wanted_name = render_value(step.like, scope.find, TEXT)
    scope.require((*items.needs, *wanted_name.needs))
    source, key, inner = _pair_with_key(items, field)
    picked = f"pick({source}, {wanted_name.text}, field={key})"
    if inner:
        variable = scope.make_variable(f"{step.name}_found")
        scope.write_line(f"{variable} = {picked}")
        scope.require((f"{variable} is not None",))
        scope.hold(step.name, f"{variable}{inner}", items.known.item)
        return
    variable = scope.hold(step.name, picked, items.known.item)
    scope.require((f"{variable} is not None",))


@write_step.register
def _write_where(step: Where, scope: CompileScope) -> None:
    """Write a filtered list."""
    items = _find_list(step.of, scope)
    item = ProgramExpression(_ITEM, items.known.item)
    field = _find_in_item(step.field, item, scope).non_null
    condition, needs = _render_test(step, field, scope)
    scope.require((*items.needs, *needs))
    passing = f"[{_ITEM} for {_ITEM} in {items.text}{render_conditions((*field.needs, condition))}]"
    scope.hold(step.name, passing, make_list(items.known.item))


def _render_test(step: Where, field: ProgramExpression, scope: CompileScope) -> tuple[str, Sequence[str]]:
    """Return the test of an item as code, and the conditions under which it can be evaluated."""
    if step.test == "contains":
        wanted = field.known.item.shape if field.known.is_list else TEXT
        operand = render_value(step.value, scope.find, wanted)
        if field.known.is_list:
            return f"{operand.text} in {field.text}", operand.needs
        return f"{operand.text}.lower() in str({field.text}).lower()", operand.needs
    if step.test in ("=", "!="):
        operand = render_value(step.value, scope.find, field.known.shape)
        return f"{field.text} {'==' if step.test == '=' else '!='} {operand.text}", operand.needs
    operand = render_value(step.value, scope.find)
    left, right = make_comparable(field, operand, step.field or _ITEM)
    return f"{left} {step.test} {right}", operand.needs


@write_step.register
def _write_ranked(step: Ranked, scope: CompileScope) -> None:
    """Write the item with the most or the least in a field, or a list of the first few."""
    items = _find_list(step.of, scope)
    field = _find_in_item(step.field, ProgramExpression(_ITEM, items.known.item), scope).non_null
    field = ProgramExpression(make_sortable(field, step.field or f"an item of {step.of}"), field.known, field.needs)
    scope.require(items.needs)
    source, key, inner = _pair_with_key(items, field)
    if step.how_many > 1:
        order = ", reverse=True" if step.do == "most" else ""
        ranked = f"sorted({source}, key={key}{order})[:{step.how_many}]"
        scope.hold(
            step.name, f"[{_ITEM}{inner} for {_ITEM} in {ranked}]" if inner else ranked, make_list(items.known.item)
        )
        return
    if not source.isidentifier():
        variable = scope.make_variable(f"{step.name}_of")
        scope.write_line(f"{variable} = {source}")
        source = variable
    scope.require((source,))
    scope.hold(step.name, f"{'max' if step.do == 'most' else 'min'}({source}, key={key}){inner}", items.known.item)


def _pair_with_key(items: ProgramExpression, key: ProgramExpression) -> tuple[str, str, str]:
    """Return code of a list, of a key function for its items, and of the subscript from its items to the original ones.

    If the key may be missing, the list consists of pairs of key and item, without the items that lack the key.
    """
    if not key.needs:
        return items.text, f"lambda {_ITEM}: {key.text}", ""
    pairs = f"[({key.text}, {_ITEM}) for {_ITEM} in {items.text}{render_conditions(key.needs)}]"
    return pairs, f"lambda {_ITEM}: {_ITEM}[0]", "[1]"


@write_step.register
def _write_figure(step: Figure, scope: CompileScope) -> None:
    """Write a count, a sum or an average."""
    items = _hold_list(step.of, step.name, scope)
    if step.do == "count":
        scope.hold(step.name, f"len({items.text})", ValueFacts(INTEGER))
        return
    item = ProgramExpression(_ITEM, items.known.item)
    make_sortable(item, f"an item of {step.of}")
    number_of_item = item.non_null
    plain = not number_of_item.needs and make_number(number_of_item) == _ITEM
    numbers = (
        items.text
        if plain
        else f"[{make_number(number_of_item)} for {_ITEM} in {items.text}{render_conditions(number_of_item.needs)}]"
    )
    if step.do == "sum":
        scope.hold(step.name, f"sum({numbers})", ValueFacts(NUMBER, computed=True))
        return
    if not plain:
        variable = scope.make_variable(f"{step.name}_of")
        scope.write_line(f"{variable} = {numbers}")
        numbers = variable
    scope.require((numbers,))
    scope.hold(step.name, f"sum({numbers}) / len({numbers})", ValueFacts(NUMBER, computed=True))


@write_step.register
def _write_calculate(step: Calculate, scope: CompileScope) -> None:
    """Write an operation on two numbers, guarded against division by zero."""
    left, right = (render_value(given, scope.find, NUMBER) for given in (step.left, step.right))
    scope.require((*left.needs, *right.needs, *([f"{right.text} != 0"] if step.operator == "/" else [])))
    scope.hold(step.name, f"{left.text} {step.operator} {right.text}", ValueFacts(NUMBER, computed=True))


@write_step.register
def _write_compare(step: Compare, scope: CompileScope) -> None:
    """Write a choice of one of three texts by comparing two values."""
    left, right = (render_value(given, scope.find) for given in (step.left, step.right))
    one, other = make_comparable(left, right, "what is compared")
    more, less, equal = (render_text(one, scope.find) for one in (step.more, step.less, step.equal))
    scope.require(need for found in (left, right, more, less, equal) for need in found.needs)
    chosen = f"{more.text} if {one} > {other} else {less.text} if {one} < {other} else {equal.text}"
    scope.hold(step.name, chosen, ValueFacts(TEXT))


@write_step.register
def _write_join(step: Join, scope: CompileScope) -> None:
    """Write a text that joins one text per item."""
    items = _find_list(step.of, scope)
    item = ProgramExpression(_ITEM, items.known.item)
    item_text = render_text(step.text, lambda path: scope.find(path, item))
    own, outer = _split_conditions(item_text.needs)
    scope.require((*items.needs, *outer))
    scope.hold(
        step.name,
        f"{step.by!r}.join([{item_text.text} for {_ITEM} in {items.text}{render_conditions(own)}])",
        ValueFacts(TEXT),
    )


@write_step.register
def _write_look(step: Look, scope: CompileScope) -> None:
    """Write a look at the value of a path."""
    expression = _find_expression(step.of, scope)
    scope.require(expression.needs)
    scope.write_line(f"look({expression.text})")


def _find_function(name: str, scope: CompileScope) -> ToolSignature:
    """Return the signature of an offered function."""
    if name not in scope.functions:
        raise InvalidDecisionError(
            f"there is no function {name!r}; there are {', '.join(list(scope.functions)[:_MAX_FUNCTIONS])}"
        )
    return scope.functions[name]


def _find_expression(written_path: str, scope: CompileScope) -> ProgramExpression:
    """Return the expression at a path that is written as text."""
    path = parse_path(written_path)
    if path is None:
        raise InvalidDecisionError(f"{written_path[:60]!r} is no path: a path is people, people[0].id or people[].id")
    return scope.find(path)


def _find_list(written_path: str, scope: CompileScope) -> ProgramExpression:
    """Return the expression at a path, and reject it if it is known not to be a list."""
    expression = _find_expression(written_path, scope).non_null
    if expression.known.is_list is False:
        raise InvalidDecisionError(
            f"{written_path} is {expression.known.description or 'one item'}, and a list is wanted"
        )
    return expression


def _hold_list(written_path: str, name: str, scope: CompileScope) -> ProgramExpression:
    """Return a list as a variable, so that the code can use it twice without evaluating it again."""
    items = _find_list(written_path, scope)
    scope.require(items.needs)
    if items.text.isidentifier():
        return ProgramExpression(items.text, items.known)
    variable = scope.make_variable(f"{name}_of")
    scope.write_line(f"{variable} = {items.text}")
    return ProgramExpression(variable, items.known)


def _find_in_item(field: str, item: ProgramExpression, scope: CompileScope) -> ProgramExpression:
    """Return the expression at a path in a list item.

    The path may begin with ``item``, or for pairs with ``result``; otherwise it is relative to the item.
    """
    if not field.strip(" {}"):
        return item
    path = (
        parse_path(field) or parse_path(f"{_ITEM}.{field.strip(' {}')}") or parse_path(f"{_ITEM}{field.strip(' {}')}")
    )
    if path is None:
        raise InvalidDecisionError(f"{field[:60]!r} is no path into an item: name a field, as in name or address.city")
    if item.known.pair and path.root not in (_ITEM, "result"):
        raise InvalidDecisionError(f"an item there has item and result: say item.{path} or result.{path}")
    if (
        path.root not in (_ITEM, "result")
        or (path.root == "result" and not item.known.pair)
        or (path.root == _ITEM and not item.known.pair and _ITEM in item.known.shape.fields)
    ):
        path = ValuePath(_ITEM, (FieldKey(path.root), *path.parts))
    return scope.enter(item, path)


def _split_conditions(needs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split conditions into those about the item of a loop, and those that can be tested before the loop."""
    own = [need for need in needs if _is_about_item(need)]
    return own, [need for need in needs if need not in own]


def _is_about_item(need: str) -> bool:
    """Return True if a condition mentions the item of a loop."""
    return any(word == _ITEM for word in _split_words(need))


def _split_words(expression: str) -> list[str]:
    """Split an expression into its names and numbers."""
    return "".join(one if one.isalnum() or one == "_" else " " for one in expression).split()
