"""What docstrings refer to is there: a name in a role (``:func:`…```) is one of its module, or a whole path to one."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT, packages, parsed, python_files

ROLE = re.compile(r":(?:func|meth|class|mod|data|attr):`~?([\w.]+)`")
OUTSIDE = {"ast", "asyncio", "logging", "numpy", "pydantic", "subprocess"}


@cache
def names_in(path: Path) -> frozenset[str]:
    """All names that a module defines, imports or uses."""
    found = set[str]()
    for node in ast.walk(parsed(path)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case _:
                pass
    return frozenset(found)


def is_there(reference: str, path: Path) -> bool:
    """Whether a reference in a module leads somewhere."""
    parts = reference.split(".")
    if parts[0] in OUTSIDE:
        return True
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        if place.with_suffix(".py").is_file():
            return all(part in names_in(place.with_suffix(".py")) for part in parts[length:])
        if place.is_dir():
            return length == len(parts)
    return all(part in names_in(path) for part in parts)


@pytest.mark.parametrize("package", [*packages(), "scripts"])
def test_what_a_docstring_refers_to_is_there(package: str) -> None:
    lost = [
        f"{path.relative_to(ROOT)}: {reference}"
        for path in python_files(package)
        for reference in ROLE.findall(path.read_text(encoding="utf-8"))
        if not is_there(reference, path)
    ]
    assert lost == []
