"""A file is a subject, a function is short, and names are the field's words."""

import ast
import re
from collections.abc import Iterator
from statistics import quantiles

from tests.support.source_tree import ROOT, line_count, packages, parsed, python_files

LONGEST_FILE = 800
"""Lines; 100 to 500 are typical: a subject that a reader would look for, neither a fragment nor a collection."""
FUNCTION_P90 = 35
EMPTY_NAMES = re.compile(r"(manager|helper|util)s?$", re.IGNORECASE)
EMPTY_MODULES = {"common", "misc", "base", "core"}


def functions() -> Iterator[tuple[str, int]]:
    """Every function of the application with its length in lines, docstring included."""
    for path in python_files(*packages(), "scripts"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def test_no_file_is_longer_than_one_subject_needs() -> None:
    lengths = {str(p.relative_to(ROOT)): line_count(p) for p in python_files(*packages(), "scripts", "tests")}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_nine_functions_of_ten_are_short() -> None:
    lengths = dict(functions())
    longest = sorted(lengths.items(), key=lambda item: -item[1])[:10]
    assert quantiles(lengths.values(), n=10, method="inclusive")[-1] <= FUNCTION_P90, longest


def test_no_name_says_nothing() -> None:
    found: list[str] = []
    for path in python_files(*packages(), "scripts", "tests"):
        if EMPTY_NAMES.search(path.stem) or path.stem.strip("_") in EMPTY_MODULES:
            found.append(str(path.relative_to(ROOT)))
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.ClassDef) and EMPTY_NAMES.search(node.name)
        ]
    assert found == []
