"""A program is checked before anything is called: what can mean one thing only is put right, the rest is told to its author."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.programs import calling, language
from agent.programs.offer_text import OfferText
from agent.programs.prelude import DECLARATIONS, NAMES
from agent.programs.protocol import ASK, Sandbox
from agent.programs.questions import DECLARED
from agent.programs.reading import Unreadable, bound_names, calls, read
from agent.programs.rewriting import rewritten
from agent.programs.signatures import PREAMBLE, Signature
from agent.programs.type_complaints import type_complaints
from domain.tool import ToolDoc

MOST = 5
"""Complaints that go back to an author: more are rarely acted on."""

_GIVEN = ("ToolError", ASK, "look", "today", *NAMES)
_CALLABLE = "from collections.abc import Callable as _Callable"
_DECLARED = f"ToolError = RuntimeError\ntoday: str\ndef look(*values: Any) -> None: ...\n{DECLARED}\n"


@dataclass(frozen=True, slots=True)
class Checked:
    """``text``: what is to be run, put right where that was safe. ``complaints``: sentences for its author; empty: it may run."""

    text: str
    complaints: tuple[str, ...] = ()


async def check(
    text: str, offer: OfferText, docs: Mapping[str, ToolDoc], sandbox: Sandbox, given: Mapping[str, str]
) -> Checked:
    """Check a text over an offer. ``docs``: by function. ``given``: names that hold values already, each with its type."""
    readable = read(text)
    if isinstance(readable, Unreadable):
        return Checked(text, (readable.complaint,))
    tools = {one.name: one for one in offer.signatures}
    text, tree = _put_right(*readable, tools, {*_GIVEN, *given})
    found = [*_of_tree(tree, tools, docs, given)]
    lines = {line for line, _ in found}
    made = dict.fromkeys(call.func.id for call in calls(tree) if isinstance(call.func, ast.Name))
    diagnostics = await sandbox.type_errors(
        text, stubs([tools[name] for name in made if name in tools], given, bound_names(tree))
    )
    found += [one for one in type_complaints(diagnostics, tools, docs) if one[0] not in lines]
    return Checked(text, _sentences(found))


def stubs(functions: Iterable[Signature], given: Mapping[str, str], own: Collection[str] = ()) -> str:
    """Everything that a program may use, declared: these functions, what every program has, and names that hold values already.

    ``own``: the names that the program itself gives a meaning to, be they a helper's.
    """
    names = "".join(f"{name}: {kind}\n" for name, kind in given.items())
    helpers = [text for name, text in DECLARATIONS.items() if name not in {*own, *given}]
    return "\n".join((PREAMBLE, _CALLABLE, _DECLARED, *helpers, names, *(one.stub for one in functions)))


def _put_right(text: str, tree: ast.Module, tools: Mapping[str, Signature], there: set[str]) -> tuple[str, ast.Module]:
    changed = ast.parse(text)
    if not rewritten(changed, tools, there) or not changed.body:
        return text, tree
    try:
        written = ast.unparse(changed)
        return written, ast.parse(written)
    except (SyntaxError, ValueError, RecursionError):
        return text, tree  # an f-string that only a later Python can write


def _of_tree(
    tree: ast.Module, tools: Mapping[str, Signature], docs: Mapping[str, ToolDoc], given: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    yield from language.missing_features(tree)
    yield from calling.wrong_names(tree, tools, {*_GIVEN, *given})
    yield from calling.wrong_arguments(tree, tools, {name: _required(tools[name], docs.get(name)) for name in tools})
    yield from calling.not_awaited(tree, {*tools, ASK})
    yield from calling.misplaced_looks(tree)
    yield from calling.ends_in_value(tree)


def _required(one: Signature, doc: ToolDoc | None) -> list[str]:
    needed = {parameter.name for parameter in doc.parameters if parameter.required} if doc else set[str]()
    return [name for name, parameter in one.arguments.items() if parameter in needed]


def _sentences(found: list[tuple[int, str]]) -> tuple[str, ...]:
    said = dict.fromkeys(
        f"Line {line}: {sentence}" if line else sentence for line, sentence in sorted(found, key=lambda one: one[0])
    )
    return tuple(said)[:MOST]
