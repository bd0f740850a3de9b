"""How many start tools are taken where none decides: what serves best by node F1."""

from domain.tool import make_tool_id
from evaluation.chain_metrics import PlannedChain, find_best_k

A, B, C, D = (make_tool_id("c", "set", name) for name in "abcd")


def test_as_many_start_tools_as_serve_best_and_the_fewest_of_equals() -> None:
    assert find_best_k([PlannedChain((A, B), (A, B, C)), PlannedChain((D,), (A, B, C))], 3) == 2
    assert find_best_k([PlannedChain((A, B, C), (A, B, C, D))], 4) == 3
    assert find_best_k([PlannedChain((D,), (A, B, C))], 3) == 1
