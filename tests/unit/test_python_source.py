"""Texts are parsed in many threads at once; on CPython 3.11 that needs a lock (python/cpython#106905)."""

import ast
import gc
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain.python_source import parse_expression, parse_literal, parse_module
from tests.support.source_tree import ROOT, packages, python_files

TEXT = "\n".join(
    f"def f{n}(a, b):\n    return [x + {n} for x in a if x > b or {{'k': [1, (2, 3)]}}]" for n in range(20)
)


@pytest.fixture
def switching() -> Generator[None]:
    """Threads change over while a tree is built, as they do wherever the garbage collector runs Python code."""

    def change_over(phase: str, _: dict[str, int]) -> None:
        time.sleep(0.0002 if phase == "start" else 0)

    before = gc.get_threshold()
    gc.callbacks.append(change_over)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(change_over)


@pytest.mark.usefixtures("switching")
def test_many_threads_parse_at_once() -> None:
    with ThreadPoolExecutor(6) as pool:
        trees = list(pool.map(parse_module, [TEXT] * 60))
    assert {len(tree.body) for tree in trees} == {20}


def test_a_literal_is_read_as_the_standard_library_reads_it() -> None:
    assert parse_literal(" {'a': (1, -2.5)}") == {"a": (1, -2.5)}
    assert isinstance(parse_expression("a + b").body, ast.BinOp)
    with pytest.raises(ValueError, match="malformed"):
        parse_literal("print(1)")
    with pytest.raises(SyntaxError):
        parse_module("a b")


def test_nothing_parses_elsewhere() -> None:
    """The build of the wheel has one thread, and none of our packages at hand."""
    texts = {path: path.read_text(encoding="utf-8") for path in python_files(*packages(), "scripts")}
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, text in texts.items()
        if "parse" in text or "PyCF_ONLY_AST" in text
        for node in ast.walk(ast.parse(text, str(path)))
        if isinstance(node, ast.Attribute)
        and node.attr in ("parse", "PyCF_ONLY_AST")
        and ast.unparse(node.value) == "ast"
    }
    one_file = {place for place in found if place.startswith(("domain/python_source.py:", "wheel_build/"))}
    assert found == one_file
    assert found
