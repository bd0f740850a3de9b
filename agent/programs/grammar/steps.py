"""Translation of each kind of step to lines of a program."""

from collections.abc import Sequence
from functools import singledispatch

from agent.programs.grammar.arguments import written_arguments
from agent.programs.grammar.fitting import comparable, number, ordered
from agent.programs.grammar.paths import Key, Path, path_of
from agent.programs.grammar.scope import Scope
from agent.programs.grammar.sentence import (
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
from agent.programs.grammar.texts import text, value
from agent.programs.grammar.values import INTEGER, NUMBER, TEXT, Found, Known, list_of, where
from agent.programs.signatures import Signature
from domain.errors import InvalidDecisionError

_NAMED = 30
_ITEM = "item"


@singledispatch
def written(step: Step, scope: Scope) -> None:  # noqa: ARG001  that of all kinds
    """Write the lines of a step into the scope.

    Raises:
        InvalidDecisionError: that is not possible; the message says why, and what exists instead.
    """
    raise InvalidDecisionError(f"{step.do} is no kind of step")


@written.register
def _call(step: Call, scope: Scope) -> None:
    """Write one call."""
    function = _function(step.function, scope)
    made, needs = written_arguments(step.arguments, function, scope.find)
    scope.need(needs)
    scope.hold(step.name, f"await {function.name}({made})", Known(function.returns))


@written.register
def _for_each(step: ForEach, scope: Scope) -> None:
    """Write concurrent calls for the items of a list, as a list of pairs of item and result."""
    function = _function(step.function, scope)
    items = _list(step.of, scope)
    item = Found(_ITEM, items.known.item)
    made, needs = written_arguments(step.arguments, function, lambda path: scope.find(path, item))
    own, outer = _own(needs)
    scope.need((*items.needs, *outer))
    source = items.text
    if own or not source.isidentifier():
        source = scope.variable(f"{step.name}_items")
        scope.line(f"{source} = {items.text if not own else f'[{_ITEM} for {_ITEM} in {items.text}{where(own)}]'}")
    scope.at_once = True
    results = f"await asyncio.gather(*[{function.name}({made}) for {_ITEM} in {source}])"
    pair = Known(pair=(items.known.item, Known(function.returns)))
    scope.hold(step.name, f"list(zip({source}, {results}))", list_of(pair))


@written.register
def _listed(step: Listed, scope: Scope) -> None:
    """Write a list of values; its items are known if they are all alike."""
    found = [value(given, scope.find) for given in step.values]
    if not found:
        raise InvalidDecisionError("a list needs one value at least")
    scope.need(need for one in found for need in one.needs)
    alike = len({one.known for one in found if not one.known.pair}) == 1
    scope.hold(step.name, f"[{', '.join(one.text for one in found)}]", list_of(found[0].known if alike else Known()))


@written.register
def _field(step: FieldOf, scope: Scope) -> None:
    """Write a variable for the value at a path."""
    found = _at(step.of, scope).there
    scope.need(found.needs)
    scope.hold(step.name, found.text, found.known)


@written.register
def _first(step: First, scope: Scope) -> None:
    """Write the first item of a list, guarded against an empty one."""
    items = _named_list(step.of, step.name, scope)
    scope.need((items.text,))
    scope.hold(step.name, f"{items.text}[0]", items.known.item)


@written.register
def _pick(step: Pick, scope: Scope) -> None:
    """Write the choice of an item by a name, guarded against no match."""
    items = _list(step.of, scope)
    told = _within(step.field, Found(_ITEM, items.known.item), scope)
    named = value(step.like, scope.find, TEXT)
    scope.need((*items.needs, *named.needs))
    source, key, inner = _beside(items, told)
    picked = f"pick({source}, {named.text}, field={key})"
    if inner:
        variable = scope.variable(f"{step.name}_found")
        scope.line(f"{variable} = {picked}")
        scope.need((f"{variable} is not None",))
        scope.hold(step.name, f"{variable}{inner}", items.known.item)
        return
    variable = scope.hold(step.name, picked, items.known.item)
    scope.need((f"{variable} is not None",))


@written.register
def _where(step: Where, scope: Scope) -> None:
    """Write a filtered list."""
    items = _list(step.of, scope)
    item = Found(_ITEM, items.known.item)
    told = _within(step.field, item, scope).there
    condition, needs = _test(step, told, scope)
    scope.need((*items.needs, *needs))
    passing = f"[{_ITEM} for {_ITEM} in {items.text}{where((*told.needs, condition))}]"
    scope.hold(step.name, passing, list_of(items.known.item))


def _test(step: Where, told: Found, scope: Scope) -> tuple[str, Sequence[str]]:
    """Return the condition that an item must pass, and the conditions under which it can be tested."""
    if step.test == "contains":
        wanted = told.known.item.shape if told.known.a_list else TEXT
        given = value(step.value, scope.find, wanted)
        if told.known.a_list:
            return f"{given.text} in {told.text}", given.needs
        return f"{given.text}.lower() in str({told.text}).lower()", given.needs
    if step.test in ("=", "!="):
        given = value(step.value, scope.find, told.known.shape)
        return f"{told.text} {'==' if step.test == '=' else '!='} {given.text}", given.needs
    given = value(step.value, scope.find)
    left, right = comparable(told, given, step.field or _ITEM)
    return f"{left} {step.test} {right}", given.needs


@written.register
def _ranked(step: Ranked, scope: Scope) -> None:
    """Write the item with the most or the least, or the best few."""
    items = _list(step.of, scope)
    told = _within(step.field, Found(_ITEM, items.known.item), scope).there
    told = Found(ordered(told, step.field or f"an item of {step.of}"), told.known, told.needs)
    scope.need(items.needs)
    source, key, inner = _beside(items, told)
    if step.how_many > 1:
        order = ", reverse=True" if step.do == "most" else ""
        ranked = f"sorted({source}, key={key}{order})[:{step.how_many}]"
        scope.hold(
            step.name, f"[{_ITEM}{inner} for {_ITEM} in {ranked}]" if inner else ranked, list_of(items.known.item)
        )
        return
    if not source.isidentifier():
        variable = scope.variable(f"{step.name}_of")
        scope.line(f"{variable} = {source}")
        source = variable
    scope.need((source,))
    scope.hold(step.name, f"{'max' if step.do == 'most' else 'min'}({source}, key={key}){inner}", items.known.item)


def _beside(items: Found, told: Found) -> tuple[str, str, str]:
    """Return a list, a key function for its items, and the path from its items to those of the original list.

    If the key may be missing, the list holds pairs of key and item, without the items that lack the key.
    """
    if not told.needs:
        return items.text, f"lambda {_ITEM}: {told.text}", ""
    pairs = f"[({told.text}, {_ITEM}) for {_ITEM} in {items.text}{where(told.needs)}]"
    return pairs, f"lambda {_ITEM}: {_ITEM}[0]", "[1]"


@written.register
def _figure(step: Figure, scope: Scope) -> None:
    """Write a count, a sum or an average."""
    items = _named_list(step.of, step.name, scope)
    if step.do == "count":
        scope.hold(step.name, f"len({items.text})", Known(INTEGER))
        return
    one = Found(_ITEM, items.known.item)
    ordered(one, f"an item of {step.of}")
    told = one.there
    plain = not told.needs and number(told) == _ITEM
    numbers = items.text if plain else f"[{number(told)} for {_ITEM} in {items.text}{where(told.needs)}]"
    if step.do == "sum":
        scope.hold(step.name, f"sum({numbers})", Known(NUMBER, computed=True))
        return
    if not plain:
        variable = scope.variable(f"{step.name}_of")
        scope.line(f"{variable} = {numbers}")
        numbers = variable
    scope.need((numbers,))
    scope.hold(step.name, f"sum({numbers}) / len({numbers})", Known(NUMBER, computed=True))


@written.register
def _calculate(step: Calculate, scope: Scope) -> None:
    """Write an operation on two numbers, guarded against division by zero."""
    left, right = (value(given, scope.find, NUMBER) for given in (step.left, step.right))
    scope.need((*left.needs, *right.needs, *([f"{right.text} != 0"] if step.operator == "/" else [])))
    scope.hold(step.name, f"{left.text} {step.operator} {right.text}", Known(NUMBER, computed=True))


@written.register
def _compare(step: Compare, scope: Scope) -> None:
    """Write a choice of one of three texts by comparing two values."""
    left, right = (value(given, scope.find) for given in (step.left, step.right))
    one, other = comparable(left, right, "what is compared")
    more, less, equal = (text(one, scope.find) for one in (step.more, step.less, step.equal))
    scope.need(need for found in (left, right, more, less, equal) for need in found.needs)
    chosen = f"{more.text} if {one} > {other} else {less.text} if {one} < {other} else {equal.text}"
    scope.hold(step.name, chosen, Known(TEXT))


@written.register
def _join(step: Join, scope: Scope) -> None:
    """Write a text that joins one text per item."""
    items = _list(step.of, scope)
    item = Found(_ITEM, items.known.item)
    told = text(step.text, lambda path: scope.find(path, item))
    own, outer = _own(told.needs)
    scope.need((*items.needs, *outer))
    scope.hold(step.name, f"{step.by!r}.join([{told.text} for {_ITEM} in {items.text}{where(own)}])", Known(TEXT))


@written.register
def _look(step: Look, scope: Scope) -> None:
    """Write a look at the value of a path."""
    found = _at(step.of, scope)
    scope.need(found.needs)
    scope.line(f"look({found.text})")


def _function(name: str, scope: Scope) -> Signature:
    """Return the signature of an offered function."""
    if name not in scope.functions:
        raise InvalidDecisionError(
            f"there is no function {name!r}; there are {', '.join(list(scope.functions)[:_NAMED])}"
        )
    return scope.functions[name]


def _at(written_path: str, scope: Scope) -> Found:
    """Return the expression at a path that is written as text."""
    path = path_of(written_path)
    if path is None:
        raise InvalidDecisionError(f"{written_path[:60]!r} is no path: a path is people, people[0].id or people[].id")
    return scope.find(path)


def _list(written_path: str, scope: Scope) -> Found:
    """Return the expression at a path, which must not be known to be something other than a list."""
    found = _at(written_path, scope).there
    if found.known.a_list is False:
        raise InvalidDecisionError(f"{written_path} is {found.known.in_words or 'one item'}, and a list is wanted")
    return found


def _named_list(written_path: str, name: str, scope: Scope) -> Found:
    """Return a list as a variable, for lines that use it twice."""
    items = _list(written_path, scope)
    scope.need(items.needs)
    if items.text.isidentifier():
        return Found(items.text, items.known)
    variable = scope.variable(f"{name}_of")
    scope.line(f"{variable} = {items.text}")
    return Found(variable, items.known)


def _within(field: str, item: Found, scope: Scope) -> Found:
    """Return the expression at a path in a list item; it may begin with ``item``, or ``result`` for its call."""
    if not field.strip(" {}"):
        return item
    path = path_of(field) or path_of(f"{_ITEM}.{field.strip(' {}')}") or path_of(f"{_ITEM}{field.strip(' {}')}")
    if path is None:
        raise InvalidDecisionError(f"{field[:60]!r} is no path into an item: name a field, as in name or address.city")
    if item.known.pair and path.root not in (_ITEM, "result"):
        raise InvalidDecisionError(f"an item there has item and result: say item.{path} or result.{path}")
    if (
        path.root not in (_ITEM, "result")
        or (path.root == "result" and not item.known.pair)
        or (path.root == _ITEM and not item.known.pair and _ITEM in item.known.shape.fields)
    ):
        path = Path(_ITEM, (Key(path.root), *path.parts))
    return scope.enter(item, path)


def _own(needs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split conditions into those on the item of a loop and the others, which can be tested before the loop."""
    own = [need for need in needs if _about_item(need)]
    return own, [need for need in needs if need not in own]


def _about_item(need: str) -> bool:
    """Return True if a condition mentions the item of a loop."""
    return any(word == _ITEM for word in _words(need))


def _words(expression: str) -> list[str]:
    """Split an expression into its names and numbers."""
    return "".join(one if one.isalnum() or one == "_" else " " for one in expression).split()
