"""Texts that a program sends with a change though nobody gave them: told, not refused, since a person may see at a glance what is right."""

import ast
import re
import unicodedata
from collections.abc import Iterator, Mapping

from agent.programs.reading import calls
from agent.programs.signatures import Signature
from domain.tool import Parameter, ToolDoc

_FORMED = re.compile(r"[\d\s:.,/+TZ-]*")
_WORDS = re.compile(r"\w+")
_LONGEST = 60


def ungiven(
    tree: ast.Module, tools: Mapping[str, Signature], docs: Mapping[str, ToolDoc], request: str
) -> Iterator[str]:
    """A sentence for each text that goes into a change and stands neither in the request nor in the parameter's document."""
    assigned = _assigned(tree)
    for call in calls(tree):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name not in tools or name not in docs or docs[name].effect.kind == "reads":
            continue
        parameters = {one.name: one for one in docs[name].parameters}
        for given in call.keywords:
            parameter = parameters.get(tools[name].arguments.get(given.arg or "", ""))
            for text in dict.fromkeys(_texts(given.value, assigned, set(tools))):
                if parameter is not None and not _stands(text, request, parameter):
                    yield f'Line {call.lineno}: `{name}({given.arg}=...)` sends "{text[:_LONGEST]}", which the request does not say.'


def _assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                found.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                found.setdefault(name, []).append(value)
            case _:
                pass
    return found


def _texts(value: ast.expr, assigned: Mapping[str, list[ast.expr]], tools: set[str]) -> Iterator[str]:
    """The texts that an expression may be made of; not those that only choose or find."""
    waiting: list[ast.AST] = [value]
    seen: set[str] = set()
    while waiting:
        match node := waiting.pop():
            case ast.Constant(value=str(text)):
                yield text
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                waiting += assigned.get(name, ())
            case ast.Subscript(value=inner):
                waiting.append(inner)
            case ast.IfExp(body=body, orelse=orelse):
                waiting += [body, orelse]
            case ast.Dict(values=values):
                waiting += values
            case ast.Call(func=ast.Name(id=name)) if name in tools:
                pass
            case ast.Call(func=ast.Attribute(value=inner)):
                waiting.append(inner)
            case ast.Compare() | ast.comprehension():
                pass
            case _:
                waiting += ast.iter_child_nodes(node)


def _stands(text: str, request: str, parameter: Parameter) -> bool:
    plain, said = _plain(text), _plain(request)
    if _FORMED.fullmatch(text) or plain.strip() in said:
        return True
    known = [*parameter.enum, parameter.default, parameter.example]
    if any(plain == _plain(str(one)) for one in known if one is not None):
        return True
    return set(_WORDS.findall(plain)) <= set(_WORDS.findall(said))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
