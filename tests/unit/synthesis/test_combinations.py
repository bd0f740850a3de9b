"""What is mined from documents is what a person would write down."""

from pathlib import Path

import pytest

from graph.ground import Ground
from synthesis.combinations import combinations
from tests.unit.synthesis.worked_by_hand import by_hand, lines, tools


@pytest.mark.parametrize(("service", "count"), [("scholar", 192), ("museum", 108), ("railway", 40)])
def test_mined_combinations_are_those_worked_by_hand(service: str, count: int, tmp_path: Path) -> None:
    wanted = by_hand(service)
    mined = lines(combinations(Ground(tools(service, tmp_path))), wanted)
    assert len(set(mined)) == len(mined)
    assert sorted(set(mined) - wanted) == []
    assert sorted(wanted - set(mined)) == []
    assert len(mined) == count
