"""A model that knows each request's own program and writes it: an author who makes no mistake. What then goes wrong is not its fault."""

import ast
from collections.abc import Sequence

from evaluation.expected import Asked
from tests.models.openai_replies import ChatRequest

_END = """
_values = {
    *[str(x) for x in _found.get("numbers", [])],
    *[x if isinstance(x, str) else x[0] for x in _found.get("texts", [])],
    *[str(x) for x in _found.get("dates", [])],
}
{"answered": "%s", "answer": "; ".join(sorted(_values)) or "Done.", "missing": "%s"}
"""


class KnowingAuthor:
    """Writes programs only; says of everything else that it does not know."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked = asked

    def __call__(self, request: ChatRequest) -> str:
        prompt = request.prompt
        known = next((one for one in self._asked if one.request in prompt), None)
        if known is None or not known.program:
            return '```python\n{"answered": "no", "missing": "nothing serves this"}\n```'
        return f"```python\n{written(known)}\n```"


def written(asked: Asked) -> str:
    """A request's program, ending as programs end."""
    tree = ast.parse(asked.program)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("_found", ast.Store())], last.value)
    end = _END % (("partly", "the rest") if asked.partly else ("yes", ""))
    return ast.unparse(ast.fix_missing_locations(tree)) + end
