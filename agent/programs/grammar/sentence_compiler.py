"""Compilation of a sentence of the grammar to the text of a program: its steps, its guards and its answer."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from agent.programs.grammar.expressions import (
    PathLookup,
    convert_to_number,
    make_comparable,
    make_sortable,
    render_text,
    render_value,
)
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
    FieldKey,
    FieldOf,
    Figure,
    First,
    ForEach,
    Join,
    Listed,
    Look,
    Pick,
    Ranked,
    Sentence,
    Step,
    Value,
    ValuePath,
    Where,
    parse_path,
    split_pieces,
)
from agent.programs.signatures import OfferText, ToolSignature
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, JsonShape


@dataclass(slots=True)
class _NestedArgument:
    """An object argument whose fields are set one by one; ``str()`` renders it as a dict literal."""

    fields: "dict[str, str | _NestedArgument]" = field(default_factory=dict[str, "str | _NestedArgument"])

    def set_field(self, names: Sequence[str], expression: str) -> None:
        """Set a nested field.

        Args:
            names: names of the fields from the outermost to the innermost.
            expression: code of the value.

        Raises:
            InvalidDecisionError: the field is set already.
        """
        current = self
        for name in names[:-1]:
            inner = current.fields.setdefault(name, _NestedArgument())
            if isinstance(inner, str):
                raise InvalidDecisionError(f"{'.'.join(names)} is given twice")
            current = inner
        if names[-1] in current.fields:
            raise InvalidDecisionError(f"{'.'.join(names)} is given twice")
        current.fields[names[-1]] = expression

    def __str__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {value}' for name, value in self.fields.items())}}}"


def render_arguments(
    arguments: Sequence[Argument], function: ToolSignature, lookup: PathLookup
) -> tuple[str, tuple[str, ...]]:
    """Return the code of a call's arguments, and the conditions under which they can be evaluated.

    Raises:
        InvalidDecisionError: a parameter or a value does not exist, or a required parameter is not given.
    """
    nested = _NestedArgument()
    conditions: list[str] = []
    for argument in arguments:
        path = parse_path(argument.parameter)
        names = [path.root, *(part.name for part in path.parts if isinstance(part, FieldKey))] if path else []
        if path is None or len(names) <= len(path.parts):
            raise InvalidDecisionError(f"{argument.parameter[:60]!r} names no parameter of {function.name}")
        expression = render_value(argument.value, lookup, _find_shape(function, names))
        conditions += expression.conditions
        nested.set_field(names, expression.code)
    missing = [*_list_missing(nested, function.input_shape)]
    if missing:
        raise InvalidDecisionError(f"{function.name} needs {', '.join(missing)} as well")
    return ", ".join(f"{name}={argument}" for name, argument in nested.fields.items()), tuple(dict.fromkeys(conditions))


def _list_missing(nested: _NestedArgument, shape: JsonShape, prefix: str = "") -> Iterator[str]:
    """Yield the paths of required fields that are not given."""
    for name, field_shape in shape.fields.items():
        inner = nested.fields.get(name)
        if inner is None and name in shape.required:
            yield f"{prefix}{name}"
        elif isinstance(inner, _NestedArgument):
            yield from _list_missing(inner, field_shape, f"{prefix}{name}.")


def _find_shape(function: ToolSignature, names: Sequence[str]) -> JsonShape:
    """Return the shape of a parameter, or of a nested field of it."""
    if names[0] not in function.arguments:
        available = ", ".join(function.arguments) or "none"
        raise InvalidDecisionError(f"{function.name} has no parameter {names[0]!r}; it has {available}")
    shape = function.input_shape
    for number, name in enumerate(names):
        if shape.fields and name not in shape.fields:
            available = ", ".join(shape.fields)
            raise InvalidDecisionError(f"{'.'.join(names[:number])} has no field {name!r}; it has {available}")
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
    arguments, needs = render_arguments(step.arguments, function, scope.find_expression)
    scope.add_guard(needs)
    scope.assign(step.name, f"await {function.name}({arguments})", ValueFacts(function.output_shape))


@write_step.register
def _write_for_each(step: ForEach, scope: CompileScope) -> None:
    """Write concurrent calls for the items of a list, and zip the items with the results."""
    function = _find_function(step.function, scope)
    items = _find_list_expression(step.of, scope)
    item = ProgramExpression(_ITEM, items.facts.item)
    arguments, needs = render_arguments(step.arguments, function, lambda path: scope.find_expression(path, item))
    item_conditions, outer_conditions = _split_conditions(needs)
    scope.add_guard((*items.conditions, *outer_conditions))
    source = items.code
    if item_conditions or not source.isidentifier():
        source = scope.make_variable(f"{step.name}_items")
        scope.write_line(
            f"{source} = {items.code if not item_conditions else f'[{_ITEM} for {_ITEM} in {items.code}{render_conditions(item_conditions)}]'}"
        )
    scope.uses_gather = True
    results = f"await asyncio.gather(*[{function.name}({arguments}) for {_ITEM} in {source}])"
    pair = ValueFacts(pair=(items.facts.item, ValueFacts(function.output_shape)))
    scope.assign(step.name, f"list(zip({source}, {results}))", make_list(pair))


@write_step.register
def _write_list(step: Listed, scope: CompileScope) -> None:
    """Write a list of values. Facts about its items are known only if they are the same for all."""
    expressions = [render_value(value, scope.find_expression) for value in step.values]
    if not expressions:
        raise InvalidDecisionError("a list needs one value at least")
    scope.add_guard(need for expression in expressions for need in expression.conditions)
    has_uniform_facts = len({expression.facts for expression in expressions if not expression.facts.pair}) == 1
    scope.assign(
        step.name,
        f"[{', '.join(expression.code for expression in expressions)}]",
        make_list(expressions[0].facts if has_uniform_facts else ValueFacts()),
    )


@write_step.register
def _write_field(step: FieldOf, scope: CompileScope) -> None:
    """Write a variable for the value at a path."""
    expression = _find_path_expression(step.of, scope).non_null
    scope.add_guard(expression.conditions)
    scope.assign(step.name, expression.code, expression.facts)


@write_step.register
def _write_first(step: First, scope: CompileScope) -> None:
    """Write the first item of a list, guarded against an empty one."""
    items = _assign_list(step.of, step.name, scope)
    scope.add_guard((items.code,))
    scope.assign(step.name, f"{items.code}[0]", items.facts.item)


@write_step.register
def _write_pick(step: Pick, scope: CompileScope) -> None:
    """Write the choice of the item most similar to a text, guarded against no match."""
    items = _find_list_expression(step.of, scope)
    field = _find_in_item(step.field, ProgramExpression(_ITEM, items.facts.item), scope)
    wanted_name = render_value(step.like, scope.find_expression, TEXT)
    scope.add_guard((*items.conditions, *wanted_name.conditions))
    source, key, inner = _pair_with_key(items, field)
    picked = f"pick({source}, {wanted_name.code}, field={key})"
    if inner:
        variable = scope.make_variable(f"{step.name}_found")
        scope.write_line(f"{variable} = {picked}")
        scope.add_guard((f"{variable} is not None",))
        scope.assign(step.name, f"{variable}{inner}", items.facts.item)
        return
    variable = scope.assign(step.name, picked, items.facts.item)
    scope.add_guard((f"{variable} is not None",))


@write_step.register
def _write_where(step: Where, scope: CompileScope) -> None:
    """Write a filtered list."""
    items = _find_list_expression(step.of, scope)
    item = ProgramExpression(_ITEM, items.facts.item)
    field = _find_in_item(step.field, item, scope).non_null
    condition, needs = _render_test(step, field, scope)
    scope.add_guard((*items.conditions, *needs))
    passing = f"[{_ITEM} for {_ITEM} in {items.code}{render_conditions((*field.conditions, condition))}]"
    scope.assign(step.name, passing, make_list(items.facts.item))


def _render_test(step: Where, field: ProgramExpression, scope: CompileScope) -> tuple[str, Sequence[str]]:
    """Return the test of an item as code, and the conditions under which it can be evaluated."""
    if step.test == "contains":
        target = field.facts.item.shape if field.facts.is_list else TEXT
        operand = render_value(step.value, scope.find_expression, target)
        if field.facts.is_list:
            return f"{operand.code} in {field.code}", operand.conditions
        return f"{operand.code}.lower() in str({field.code}).lower()", operand.conditions
    if step.test in ("=", "!="):
        operand = render_value(step.value, scope.find_expression, field.facts.shape)
        return f"{field.code} {'==' if step.test == '=' else '!='} {operand.code}", operand.conditions
    operand = render_value(step.value, scope.find_expression)
    left, right = make_comparable(field, operand, step.field or _ITEM)
    return f"{left} {step.test} {right}", operand.conditions


@write_step.register
def _write_ranked(step: Ranked, scope: CompileScope) -> None:
    """Write the item with the most or the least in a field, or a list of the first few."""
    items = _find_list_expression(step.of, scope)
    field = _find_in_item(step.field, ProgramExpression(_ITEM, items.facts.item), scope).non_null
    field = ProgramExpression(
        make_sortable(field, step.field or f"an item of {step.of}"), field.facts, field.conditions
    )
    scope.add_guard(items.conditions)
    source, key, inner = _pair_with_key(items, field)
    if step.how_many > 1:
        order = ", reverse=True" if step.do == "most" else ""
        ranked = f"sorted({source}, key={key}{order})[:{step.how_many}]"
        scope.assign(
            step.name, f"[{_ITEM}{inner} for {_ITEM} in {ranked}]" if inner else ranked, make_list(items.facts.item)
        )
        return
    if not source.isidentifier():
        variable = scope.make_variable(f"{step.name}_of")
        scope.write_line(f"{variable} = {source}")
        source = variable
    scope.add_guard((source,))
    scope.assign(step.name, f"{'max' if step.do == 'most' else 'min'}({source}, key={key}){inner}", items.facts.item)


def _pair_with_key(items: ProgramExpression, key: ProgramExpression) -> tuple[str, str, str]:
    """Return code of a list, of a key function for its items, and of the subscript from its items to the original ones.

    If the key may be missing, the list consists of pairs of key and item, without the items that lack the key.
    """
    if not key.conditions:
        return items.code, f"lambda {_ITEM}: {key.code}", ""
    pairs = f"[({key.code}, {_ITEM}) for {_ITEM} in {items.code}{render_conditions(key.conditions)}]"
    return pairs, f"lambda {_ITEM}: {_ITEM}[0]", "[1]"


@write_step.register
def _write_figure(step: Figure, scope: CompileScope) -> None:
    """Write a count, a sum or an average."""
    items = _assign_list(step.of, step.name, scope)
    if step.do == "count":
        scope.assign(step.name, f"len({items.code})", ValueFacts(INTEGER))
        return
    item = ProgramExpression(_ITEM, items.facts.item)
    make_sortable(item, f"an item of {step.of}")
    number_of_item = item.non_null
    is_plain = not number_of_item.conditions and convert_to_number(number_of_item) == _ITEM
    numbers = (
        items.code
        if is_plain
        else f"[{convert_to_number(number_of_item)} for {_ITEM} in {items.code}{render_conditions(number_of_item.conditions)}]"
    )
    if step.do == "sum":
        scope.assign(step.name, f"sum({numbers})", ValueFacts(NUMBER, computed=True))
        return
    if not is_plain:
        variable = scope.make_variable(f"{step.name}_of")
        scope.write_line(f"{variable} = {numbers}")
        numbers = variable
    scope.add_guard((numbers,))
    scope.assign(step.name, f"sum({numbers}) / len({numbers})", ValueFacts(NUMBER, computed=True))


@write_step.register
def _write_calculate(step: Calculate, scope: CompileScope) -> None:
    """Write an operation on two numbers, guarded against division by zero."""
    left, right = (render_value(operand, scope.find_expression, NUMBER) for operand in (step.left, step.right))
    scope.add_guard((*left.conditions, *right.conditions, *([f"{right.code} != 0"] if step.operator == "/" else [])))
    scope.assign(step.name, f"{left.code} {step.operator} {right.code}", ValueFacts(NUMBER, computed=True))


@write_step.register
def _write_compare(step: Compare, scope: CompileScope) -> None:
    """Write a choice of one of three texts by comparing two values."""
    left, right = (render_value(operand, scope.find_expression) for operand in (step.left, step.right))
    left_code, right_code = make_comparable(left, right, "what is compared")
    more, less, equal = (render_text(text, scope.find_expression) for text in (step.more, step.less, step.equal))
    scope.add_guard(need for expression in (left, right, more, less, equal) for need in expression.conditions)
    chosen = (
        f"{more.code} if {left_code} > {right_code} else {less.code} if {left_code} < {right_code} else {equal.code}"
    )
    scope.assign(step.name, chosen, ValueFacts(TEXT))


@write_step.register
def _write_join(step: Join, scope: CompileScope) -> None:
    """Write a text that joins one text per item."""
    items = _find_list_expression(step.of, scope)
    item = ProgramExpression(_ITEM, items.facts.item)
    item_text = render_text(step.text, lambda path: scope.find_expression(path, item))
    item_conditions, outer_conditions = _split_conditions(item_text.conditions)
    scope.add_guard((*items.conditions, *outer_conditions))
    scope.assign(
        step.name,
        f"{step.by!r}.join([{item_text.code} for {_ITEM} in {items.code}{render_conditions(item_conditions)}])",
        ValueFacts(TEXT),
    )


@write_step.register
def _write_look(step: Look, scope: CompileScope) -> None:
    """Write a look at the value of a path."""
    expression = _find_path_expression(step.of, scope)
    scope.add_guard(expression.conditions)
    scope.write_line(f"look({expression.code})")


def _find_function(name: str, scope: CompileScope) -> ToolSignature:
    """Return the signature of an offered function."""
    if name not in scope.functions:
        raise InvalidDecisionError(
            f"there is no function {name!r}; there are {', '.join(list(scope.functions)[:_MAX_FUNCTIONS])}"
        )
    return scope.functions[name]


def _find_path_expression(path_text: str, scope: CompileScope) -> ProgramExpression:
    """Return the expression at a path that is written as text."""
    path = parse_path(path_text)
    if path is None:
        raise InvalidDecisionError(f"{path_text[:60]!r} is no path: a path is people, people[0].id or people[].id")
    return scope.find_expression(path)


def _find_list_expression(path_text: str, scope: CompileScope) -> ProgramExpression:
    """Return the expression at a path, and reject it if it is known not to be a list."""
    expression = _find_path_expression(path_text, scope).non_null
    if expression.facts.is_list is False:
        raise InvalidDecisionError(f"{path_text} is {expression.facts.description or 'one item'}, and a list is wanted")
    return expression


def _assign_list(path_text: str, name: str, scope: CompileScope) -> ProgramExpression:
    """Return a list as a variable, so that the code can use it twice without evaluating it again."""
    items = _find_list_expression(path_text, scope)
    scope.add_guard(items.conditions)
    if items.code.isidentifier():
        return ProgramExpression(items.code, items.facts)
    variable = scope.make_variable(f"{name}_of")
    scope.write_line(f"{variable} = {items.code}")
    return ProgramExpression(variable, items.facts)


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
    if item.facts.pair and path.root not in (_ITEM, "result"):
        raise InvalidDecisionError(f"an item there has item and result: say item.{path} or result.{path}")
    if (
        path.root not in (_ITEM, "result")
        or (path.root == "result" and not item.facts.pair)
        or (path.root == _ITEM and not item.facts.pair and _ITEM in item.facts.shape.fields)
    ):
        path = ValuePath(_ITEM, (FieldKey(path.root), *path.parts))
    return scope.find_in_item(item, path)


def _split_conditions(conditions: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split conditions into those about the item of a loop, and those that can be tested before the loop."""
    item_conditions = [condition for condition in conditions if _is_about_item(condition)]
    return item_conditions, [condition for condition in conditions if condition not in item_conditions]


def _is_about_item(condition: str) -> bool:
    """Return True if a condition mentions the item of a loop."""
    return any(word == _ITEM for word in _split_words(condition))


def _split_words(expression: str) -> list[str]:
    """Split an expression into its names and numbers."""
    return "".join(character if character.isalnum() or character == "_" else " " for character in expression).split()


_MAX_COMPLAINTS = 5
_RESULT_VARIABLE = "result"
_EMPTY_VALUES = "(None, '', [], {})"
"""Code of the values that count as no answer. Zero and false are answers."""


@dataclass(frozen=True, slots=True)
class CompiledSentence:
    """Result of compiling a sentence."""

    text: str
    """Text of the program; empty if there are complaints."""
    complaints: tuple[str, ...] = ()
    """Messages for the author of the sentence."""


def compile_sentence(
    sentence: Sentence, offer: OfferText, earlier_names: Collection[str] = (), *, certain: bool = True
) -> CompiledSentence:
    """Compile a sentence that calls the functions of an offer.

    A step that uses a value which may not exist, such as the first item of a list or a field that may be null, puts all
    steps after it under a guard.

    Args:
        sentence: the sentence.
        offer: the functions that it may call.
        earlier_names: names that hold earlier results.
        certain: whether the sentence is known to be what was asked. If so, the program answers *no* when a guard fails.
            If not, it raises an error, also when the answer or a list in it is empty, so that its author can try
            another sentence.
    """
    scope = CompileScope({signature.name: signature for signature in offer.signatures}, earlier_names)
    complaints: list[str] = []
    for number, step in enumerate(sentence.steps, start=1):
        try:
            write_step(step, scope)
        except InvalidDecisionError as error:
            complaints.append(f"step {number} ({step.name}): {error}")
            scope.register_failed_step(step.name)
        if isinstance(step, Look) and number < len(sentence.steps):
            complaints.append(f"step {number} ({step.name}): a look is the last step")
    if not (sentence.steps and isinstance(sentence.steps[-1], Look)):
        complaints += _write_answer(sentence, scope) if certain else _write_checked_answer(sentence, scope)
    if complaints:
        return CompiledSentence("", tuple(complaints[:_MAX_COMPLAINTS]))
    return CompiledSentence(
        _render_certain_program(sentence, scope) if certain else _render_uncertain_program(sentence, scope)
    )


def _write_answer(sentence: Sentence, scope: CompileScope) -> list[str]:
    """Write the answer of a certain sentence; return complaints."""
    if sentence.answered == "yes" and sentence.answer in ("", []):
        return ['answer is empty: where nothing can be answered, `answered` is "no"']
    try:
        answer = render_value(sentence.answer, scope.find_expression)
        missing = render_text(sentence.missing if sentence.answered != "yes" else "", scope.find_expression)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.add_guard((*answer.conditions, *missing.conditions))
    result = f"{{'answered': {sentence.answered!r}, 'answer': {answer.code}, 'missing': {missing.code}}}"
    scope.write_line(f"{_RESULT_VARIABLE} = {result}" if scope.depth else result)
    return []


def _write_checked_answer(sentence: Sentence, scope: CompileScope) -> list[str]:
    """Write the answer of an uncertain sentence into a variable, which is checked later; return complaints."""
    try:
        answer = render_value(sentence.answer, scope.find_expression)
    except InvalidDecisionError as error:
        return [f"answer: {error}"]
    scope.add_guard(answer.conditions)
    scope.write_line(f"{_RESULT_VARIABLE} = {answer.code}")
    return []


def _render_uncertain_program(sentence: Sentence, scope: CompileScope) -> str:
    """Return the program of an uncertain sentence, which raises an error if its answer is empty."""
    result = f"{{'answered': {sentence.answered!r}, 'answer': {_RESULT_VARIABLE}, 'missing': {sentence.missing!r}}}"
    preamble = ["import asyncio"] if scope.uses_gather else []
    preamble += [f"{_RESULT_VARIABLE} = None"] if scope.depth else []
    join_names = {step.name for step in sentence.steps if isinstance(step, Join)}
    answer_pieces = split_pieces(sentence.answer) if isinstance(sentence.answer, str) else []
    lists = [
        scope.find_expression(path).code
        for path in answer_pieces
        if isinstance(path, ValuePath) and path.root in join_names
    ]
    empty_test = " or ".join(
        f"{code} in {_EMPTY_VALUES}"
        for code in ((_RESULT_VARIABLE, *lists) if len(answer_pieces) > 1 else (_RESULT_VARIABLE,))
    )
    empty_test += "".join(f" or not {code}" for code in dict.fromkeys(_find_uncertain_lists(sentence, scope)))
    ending = [f"if {empty_test}:", f"    raise ValueError({_explain_nothing_found(sentence)!r})", result]
    return "\n".join((*preamble, *scope.lines, *ending)) + "\n"


def _find_uncertain_lists(sentence: Sentence, scope: CompileScope) -> Iterator[str]:
    """Yield the lists that a figure is computed from and that must not be empty for it to be trusted.

    These are results of calls with constant arguments, and lists filtered by equality or ``contains``: there, an empty
    list may mean that the name is not the one the API uses. A list filtered by a bound may well be empty.
    """
    steps = {step.name: step for step in sentence.steps}
    for figure in (candidate for candidate in sentence.steps if isinstance(candidate, Figure)):
        path = parse_path(figure.of)
        step = steps.get(path.root) if path else None
        while path and (isinstance(step, ForEach) or (isinstance(step, Where) and step.test not in ("contains", "="))):
            path = parse_path(step.of)
            step = steps.get(path.root) if path else None
        is_fixed_call = isinstance(step, Call) and not any(_uses_path(argument.value) for argument in step.arguments)
        if path and (is_fixed_call or isinstance(step, Where)):
            yield scope.find_expression(path).non_null.code


def _uses_path(argument: Value) -> bool:
    """Return True if a value refers to the result of an earlier step."""
    return isinstance(argument, str) and any(isinstance(part, ValuePath) for part in split_pieces(argument))


def _render_certain_program(sentence: Sentence, scope: CompileScope) -> str:
    """Return the program of a certain sentence, which answers *no* if a guard fails."""
    preamble: list[str] = []
    ending: list[str] = []
    if scope.uses_gather:
        preamble.append("import asyncio")
    if scope.depth:
        fallback = {"answered": "no", "answer": "", "missing": _explain_nothing_found(sentence)}
        preamble.append(f"{_RESULT_VARIABLE} = {fallback}")
        ending.append(_RESULT_VARIABLE)
    return "\n".join((*preamble, *scope.lines, *ending)) + "\n"


def _explain_nothing_found(sentence: Sentence) -> str:
    """Return the message for a failed guard, without values, since none of them is certain to exist."""
    parts = split_pieces(sentence.missing)
    if sentence.missing.strip() and not any(isinstance(part, ValuePath) for part in parts):
        return "".join(map(str, parts))
    return "nothing was found that fits"
