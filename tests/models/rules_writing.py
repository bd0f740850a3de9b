"""How the rule-based model writes programs: the function that the request is about, before it what gives its inputs, then fields by name."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.models.prompt_reading import Wanted, asks_for_a_change, blocks, telling, topics
from tests.models.rules_answering import meant
from tests.models.rules_filling import said_in, stated
from tests.models.signature_reading import Field, Function, fields_of, functions

_DEEPEST = 3
_FLOOR = 2
"""Common words below which a function has nothing to do with the request."""
_MOST = 4
_LOOKED = re.compile(r"look\((\w+)\)\s*$")
_SIZE = re.compile(r", [\d,]+ (?:items|fields|characters)$")


def write(prompt: str, said: Sequence[str]) -> str:
    """A program. ``said``: the conversation behind the prompt, its own texts and what was told of them in turn."""
    parts = blocks(prompt)
    request = parts.get("request", "")
    if len(said) > 1 and "its names hold" in said[-1] and (looked := _looked(said[-2], said[-1])):
        name, kind = looked
        return _answer(name, list(fields_of(kind)), request)
    offered = functions(parts.get("functions", ""))
    for function in _fitting(offered, request):
        draft = _Draft(request, offered)
        name = draft.call(function)
        if name:
            last = f"look({name})" if function.returns is None else _answer(name, function.fields, request)
            return "\n".join([*draft.lines, last])
    missing = f"a function for {', '.join(sorted(topics(request))) or 'this'}"
    return repr({"answered": "no", "answer": "", "missing": missing})


def _fitting(offered: Sequence[Function], request: str) -> list[Function]:
    """What the request may be about, the likeliest first; what changes something only where a change is ordered, and then before all else."""
    asked, change = topics(request), asks_for_a_change(request)

    def score(one: Function) -> float:
        own = len(one.words & asked) + len(telling(one.name) & asked)
        given = any(telling(found.name) & asked for found in one.fields)
        chosen = sum(stated(wanted, request, set()) is not None for wanted in one.parameters)
        return own + 2 * chosen + (2 if given else 0) + (3 if one.changes else 0)

    allowed = [one for one in offered if change or not one.changes]
    return sorted((one for one in allowed if score(one) >= _FLOOR), key=lambda one: -score(one))


@dataclass
class _Draft:
    """``lines``: the calls so far. ``named``: the functions that were called, with the names that hold their responses. ``begun``: those that
    are being called, whose inputs cannot come from themselves. ``taken``: words of the request that stand for something already.
    """

    request: str
    offered: Sequence[Function]
    lines: list[str] = field(default_factory=list[str])
    named: dict[str, str] = field(default_factory=dict[str, str])
    taken: set[str] = field(default_factory=set[str])
    begun: list[str] = field(default_factory=list[str])

    def call(self, function: Function, depth: int = 0) -> str:
        """The name that holds the response; empty where an input cannot be had. Nothing is kept of what is given up."""
        if function.name in self.named:
            return self.named[function.name]
        before = len(self.lines), dict(self.named), set(self.taken)
        self.begun.append(function.name)
        arguments: list[str] = []
        free = not any(wanted.required for wanted in function.parameters)
        for wanted in function.parameters:
            value = self._value(wanted, depth, needed=wanted.required or (free and not arguments))
            if not value and wanted.required:
                del self.lines[before[0] :]
                self.named, self.taken = before[1], before[2]
                self.begun.pop()
                return ""
            if value:
                arguments.append(f"{wanted.name}={value}")
        self.begun.pop()
        name = f"found{len(self.lines) + 1}"
        self.named[function.name] = name
        self.lines.append(f"{name} = await {function.name}({', '.join(arguments)})")
        return name

    def _value(self, wanted: Wanted, depth: int, *, needed: bool) -> str:
        chosen = stated(wanted, self.request, self.taken)
        if chosen is not None or not needed:
            return "" if chosen is None else repr(chosen)
        if wanted.name.lower().endswith("id"):
            return self._given(wanted, depth)
        ways = (self._given, self._read) if wanted.type in ("number", "integer") else (self._read, self._given)
        return next(filter(None, (way(wanted, depth) for way in ways)), "")

    def _read(self, wanted: Wanted, _depth: int) -> str:
        value = said_in(wanted, self.request, self.taken)
        return "" if value is None else repr(value)

    def _given(self, wanted: Wanted, depth: int) -> str:
        """A field of another function's response with the same name."""
        if depth >= _DEEPEST:
            return ""
        for giver in self.offered:
            found = next((one for one in giver.fields if one.name.lower() == wanted.name.lower()), None)
            if found is None or giver.changes or giver.name in self.begun:
                continue
            name = self.call(giver, depth + 1)
            if name:
                return f"{name}{found.place}"
        return ""


def _answer(name: str, known: Sequence[Field], request: str) -> str:
    """The last expression: the fields that the request asks about by name, else the first ones."""
    wanted = topics(request) | meant(request)
    about = [one for one in known if telling(one.name) & wanted] or known
    told = "; ".join(f"{one.name.replace('_', ' ')}: {{{name}{one.place}}}" for one in about[:_MOST]) or f"{{{name}}}"
    return f'{{"answered": "yes", "answer": f"{told}", "missing": ""}}'


def _looked(text: str, told: str) -> tuple[str, ast.expr] | None:
    """The name that was looked at, and the type of what it holds."""
    name = _LOOKED.search(text.removesuffix("```").rstrip())
    shown = blocks(told).get("told", "").partition("\n")[0]
    if name is None:
        return None
    try:
        return name[1], ast.parse(_SIZE.sub("", shown), mode="eval").body
    except SyntaxError:
        return name[1], ast.Name("Any")
