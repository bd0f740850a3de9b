"""A model that writes the gold program of each question of SoAyEval, or what it is given instead of it."""

import ast
from collections.abc import Mapping, Sequence

from playground.soay.benchmark import Built
from synthesis.triplets import build_triplet
from tests.models.openai_replies import ChatRequest

_END = """
_said = [str(one) for one in _found] if isinstance(_found, list) else [str(_found)]
{"answered": "yes", "answer": "; ".join(sorted(set(_said)))}
"""


class GoldAuthor:
    """Writes programs only. ``instead``: texts by request, their values in them."""

    def __init__(self, questions: Sequence[Built], instead: Mapping[str, str] | None = None) -> None:
        texts = {
            one.request: build_triplet(one.request, (), one.template.program, one.values).code for one in questions
        }
        self._texts = {request: ending(text) for request, text in texts.items()} | dict(instead or {})

    def __call__(self, request: ChatRequest) -> str:
        known = [one for one in self._texts if one in request.prompt]
        if not known:
            return '```python\n{"answered": "no", "missing": "nothing serves this"}\n```'
        return f"```python\n{self._texts[max(known, key=len)]}\n```"


def ending(text: str) -> str:
    """A gold program that says its last value as programs do."""
    tree = ast.parse(text)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    tree.body[-1] = ast.Assign([ast.Name("_found", ast.Store())], last.value)
    return ast.unparse(ast.fix_missing_locations(tree)) + _END
