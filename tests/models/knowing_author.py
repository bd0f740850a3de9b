"""A model that knows each request's own program and writes it: an author who makes no mistake. What then goes wrong is not its fault."""

import ast
from collections.abc import Sequence

from evaluation.evaluation_cases import EvaluationCase
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

    def __init__(self, asked: Sequence[EvaluationCase]) -> None:
        self._asked = asked

    def __call__(self, request: ChatRequest) -> str:
        prompt = request.prompt
        known = max((one for one in self._asked if one.request in prompt), key=lambda one: one.turn, default=None)
        if known is None or not known.program:
            return '```python\n{"answered": "no", "missing": "nothing serves this"}\n```'
        before = [
            one for one in self._asked if one.dialogue and one.dialogue == known.dialogue and one.turn < known.turn
        ]
        return f"```python\n{written(known, before)}\n```"


def written(asked: EvaluationCase, before: Sequence[EvaluationCase] = ()) -> str:
    """A request's program, ending as programs end, after those of the turns before it that changed nothing. What it leaves open is asked first."""
    asks = f"await ask('Which one?', choices={[' '.join(marks) for marks in asked.ask.fits]})\n" if asked.ask else ""
    tree = ast.parse("\n".join([asks, *(one.program for one in before if not one.changes), asked.program]))
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("_found", ast.Store())], last.value)
    end = _END % (("partly", "the rest") if asked.partly else ("yes", ""))
    return ast.unparse(ast.fix_missing_locations(tree)) + end
