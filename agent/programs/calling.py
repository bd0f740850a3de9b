"""Whether a text calls only what is there, with the arguments that are there."""

import ast
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from agent.programs.awaiting import asynchronous, forgotten, parents
from agent.programs.language import BUILTINS, MODULES, instead
from agent.programs.protocol import ASK
from agent.programs.questions import PARAMETERS
from agent.programs.reading import NOWHERE, Place, bound_names, calls, place_of
from agent.programs.signatures import Signature
from agent.programs.stops import LOOK

_SHOWN = 8


def wrong_names(tree: ast.Module, tools: Collection[str], there: Collection[str]) -> Iterator[tuple[Place, str]]:
    """Names that mean nothing, tools that are taken for values, names of tools that are given to something else."""
    own = bound_names(tree)
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    told: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in told:
            continue
        if said := _wrong(node, own, tools, there, called=id(node) in functions):
            told.add(node.id)
            yield place_of(node), said
    for name in sorted(own & {*tools, LOOK, ASK} - told):
        yield NOWHERE, f"`{name}` is one of the functions: give your own value or function another name."


def _wrong(
    node: ast.Name, own: Collection[str], tools: Collection[str], there: Collection[str], *, called: bool
) -> str:
    name = node.id
    if name in tools or name in (LOOK, ASK):
        if called or name in own:
            return ""
        return f"`{name}` can only be called, as `await {name}(...)`: wrap it in a function of your own to hand it on."
    if name in own or name in there or name in BUILTINS:
        return ""
    if name in MODULES:
        return f"The name `{name}` has no value: write `import {name}` first."
    alike = get_close_matches(name, [*tools, *own, *there], n=1, cutoff=0.75)
    if alike:
        return f"There is no `{name}`: did you mean `{alike[0]}`?"
    if called:
        others = f"call only {_some(tools)}" if tools else "none is known yet; look for one"
        return f"There is no function `{name}`: {others}, or {instead(name)}."
    return f"The name `{name}` has no value: assign it before it is used."


def wrong_arguments(
    tree: ast.Module, tools: Mapping[str, Signature], required: Mapping[str, Collection[str]]
) -> Iterator[tuple[Place, str]]:
    """Arguments that a function does not take, and those that it lacks. ``required``: by function, what it cannot do without."""
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id == ASK and ASK not in tools:
            yield from ((place_of(call), said) for said in _wrong_question(call))
        elif isinstance(call.func, ast.Name) and call.func.id in tools:
            name = call.func.id
            for said in _wrong_call(call, name, list(tools[name].arguments), required.get(name, ())):
                yield place_of(call), said


def _wrong_call(call: ast.Call, name: str, names: list[str], required: Collection[str]) -> Iterator[str]:
    given = [one.arg for one in call.keywords]
    if call.args or None in given:
        yield f"`{name}` takes its arguments by name: {_some(names) if names else 'none'}."
        return
    for one in given:
        if one and one not in names:
            alike = get_close_matches(one, names, n=1, cutoff=0.6)
            takes = f"did you mean `{alike[0]}`?" if alike else f"it takes {_some(names) if names else 'none'}."
            yield f"`{name}` has no parameter `{one}`: {takes}"
    lacking = [one for one in required if one not in given]
    if lacking:
        yield f"`{name}` lacks {_some(lacking)}, without which it cannot be called."


def _wrong_question(call: ast.Call) -> Iterator[str]:
    given = [*PARAMETERS[: len(call.args)], *(one.arg for one in call.keywords)]
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if starred or len(call.args) > len(PARAMETERS) or len(set(given)) < len(given) or set(given) - {*PARAMETERS}:
        yield f"`{ASK}` takes a question and, where some answers are likely, choices=[...]."
    elif PARAMETERS[0] not in given:
        yield f"`{ASK}` lacks the question."


def not_awaited(tree: ast.Module, tools: Collection[str]) -> Iterator[tuple[Place, str]]:
    """Calls that nobody waits for, where an ``await`` cannot be put in."""
    for call in forgotten(tree, asynchronous(tree, tools)):
        name = ast.unparse(call.func)
        yield (
            place_of(call),
            f"`{name}(...)` is not awaited: write `await {name}(...)`, in an `async def` or outside of functions.",
        )


def misplaced_looks(tree: ast.Module) -> Iterator[tuple[Place, str]]:
    """Looks that do not stand alone at the outermost level, as far as branches do not count."""
    above = parents(tree)
    for call in calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id == LOOK and not _outermost(call, above):
            yield place_of(call), f"`{LOOK}(...)` stands alone on a line, outside of functions and of try."


def _outermost(call: ast.Call, above: Mapping[ast.AST, ast.AST]) -> bool:
    node = above[call]
    if isinstance(node, ast.Await):
        node = above[node]
    if not isinstance(node, ast.Expr):
        return False
    while not isinstance(node, ast.Module):
        node = above[node]
        if not isinstance(node, ast.Module | ast.If | ast.For | ast.While):
            return False
    return True


def ends_in_value(tree: ast.Module) -> Iterator[tuple[Place, str]]:
    """That the last statement is the answer, or a look is there."""
    last = tree.body[-1]
    looks = any(isinstance(call.func, ast.Name) and call.func.id == LOOK for call in calls(tree))
    if not isinstance(last, ast.Expr | ast.Return) and not looks:
        told = 'write the answer itself as the last line, such as {"answered": "yes", "answer": ...}'
        yield place_of(last), f"The program ends without an answer: {told}."


def _some(names: Collection[str]) -> str:
    shown = [f"`{name}`" for name in list(names)[:_SHOWN]]
    return ", ".join(shown) + (", …" if len(names) > _SHOWN else "")
