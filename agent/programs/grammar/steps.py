"""Each kind of step as lines of a program."""

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
    """Write a step's lines into the scope.

    Raises:
        InvalidDecisionError: it cannot be; the message says why, and what there is instead.
    """
    raise InvalidDecisionError(f"{step.do} is no kind of step")


@written.register
def _call(step: Call, scope: Scope) -> None:
    function = _function(step.function, scope)
    made, needs = written_arguments(step.arguments, function, scope.find)
    scope.need(needs)
    scope.hold(step.name, f"await {function.name}({made})", Known(function.returns))


@written.register
def _for_each(step: ForEach, scope: Scope) -> None:
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
    found = [value(given, scope.find) for given in step.values]
    if not found:
        raise InvalidDecisionError("a list needs one value at least")
    scope.need(need for one in found for need in one.needs)
    alike = len({one.known for one in found if not one.known.pair}) == 1
    scope.hold(step.name, f"[{', '.join(one.text for one in found)}]", list_of(found[0].known if alike else Known()))


@written.register
def _field(step: FieldOf, scope: Scope) -> None:
    found = _at(step.of, scope).there
    scope.need(found.needs)
    scope.hold(step.name, found.text, found.known)


@written.register
def _first(step: First, scope: Scope) -> None:
    items = _named_list(step.of, step.name, scope)
    scope.need((items.text,))
    scope.hold(step.name, f"{items.text}[0]", items.known.item)


@written.register
def _pick(step: Pick, scope: Scope) -> None:
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
    items = _list(step.of, scope)
    item = Found(_ITEM, items.known.item)
    told = _within(step.field, item, scope).there
    condition, needs = _test(step, told, scope)
    scope.need((*items.needs, *needs))
    passing = f"[{_ITEM} for {_ITEM} in {items.text}{where((*told.needs, condition))}]"
    scope.hold(step.name, passing, list_of(items.known.item))


def _test(step: Where, told: Found, scope: Scope) -> tuple[str, Sequence[str]]:
    """The condition that an item must pass, and what must be there for it to be asked."""
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
    """A list, a function that tells of each of its items what counts, and where the item is in it: items that lack that are left out."""
    if not told.needs:
        return items.text, f"lambda {_ITEM}: {told.text}", ""
    pairs = f"[({told.text}, {_ITEM}) for {_ITEM} in {items.text}{where(told.needs)}]"
    return pairs, f"lambda {_ITEM}: {_ITEM}[0]", "[1]"


@written.register
def _figure(step: Figure, scope: Scope) -> None:
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
    left, right = (value(given, scope.find, NUMBER) for given in (step.left, step.right))
    scope.need((*left.needs, *right.needs, *([f"{right.text} != 0"] if step.operator == "/" else [])))
    scope.hold(step.name, f"{left.text} {step.operator} {right.text}", Known(NUMBER, computed=True))


@written.register
def _compare(step: Compare, scope: Scope) -> None:
    left, right = (value(given, scope.find) for given in (step.left, step.right))
    one, other = comparable(left, right, "what is compared")
    more, less, equal = (text(one, scope.find) for one in (step.more, step.less, step.equal))
    scope.need(need for found in (left, right, more, less, equal) for need in found.needs)
    chosen = f"{more.text} if {one} > {other} else {less.text} if {one} < {other} else {equal.text}"
    scope.hold(step.name, chosen, Known(TEXT))


@written.register
def _join(step: Join, scope: Scope) -> None:
    items = _list(step.of, scope)
    item = Found(_ITEM, items.known.item)
    told = text(step.text, lambda path: scope.find(path, item))
    own, outer = _own(told.needs)
    scope.need((*items.needs, *outer))
    scope.hold(step.name, f"{step.by!r}.join([{told.text} for {_ITEM} in {items.text}{where(own)}])", Known(TEXT))


@written.register
def _look(step: Look, scope: Scope) -> None:
    found = _at(step.of, scope)
    scope.need(found.needs)
    scope.line(f"look({found.text})")


def _function(name: str, scope: Scope) -> Signature:
    if name not in scope.functions:
        raise InvalidDecisionError(
            f"there is no function {name!r}; there are {', '.join(list(scope.functions)[:_NAMED])}"
        )
    return scope.functions[name]


def _at(written_path: str, scope: Scope) -> Found:
    path = path_of(written_path)
    if path is None:
        raise InvalidDecisionError(f"{written_path[:60]!r} is no path: a path is people, people[0].id or people[].id")
    return scope.find(path)


def _list(written_path: str, scope: Scope) -> Found:
    found = _at(written_path, scope).there
    if found.known.a_list is False:
        raise InvalidDecisionError(f"{written_path} is {found.known.in_words or 'one item'}, and a list is wanted")
    return found


def _named_list(written_path: str, name: str, scope: Scope) -> Found:
    """A list as a variable, for what asks for it twice."""
    items = _list(written_path, scope)
    scope.need(items.needs)
    if items.text.isidentifier():
        return Found(items.text, items.known)
    variable = scope.variable(f"{name}_of")
    scope.line(f"{variable} = {items.text}")
    return Found(variable, items.known)


def _within(field: str, item: Found, scope: Scope) -> Found:
    """What lies in an item of a list, by a path that may begin with ``item``, or with ``result`` for what came of it."""
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
    """Conditions on the item of a loop, and those on what stands around it."""
    own = [need for need in needs if _about_item(need)]
    return own, [need for need in needs if need not in own]


def _about_item(need: str) -> bool:
    return any(word == _ITEM for word in _words(need))


def _words(expression: str) -> list[str]:
    return "".join(one if one.isalnum() or one == "_" else " " for one in expression).split()
