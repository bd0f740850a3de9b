"""Kill -9 of servers at moments by chance, while their runs change something: nothing told is lost, nothing is done twice."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from tests.flows.killing import Life, admitted, check, slow_changes
from tests.support.fault_proxy import proxying
from tests.support.playground_process import running_playground
from tests.support.server_process import built

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def playground() -> Iterator[str]:
    """One of the test's own, with nothing in its ledger."""
    with running_playground() as address:
        yield address


@pytest.mark.parametrize(
    ("kills", "seed"), [pytest.param(3, 7, id="three"), pytest.param(30, 30, id="thirty", marks=pytest.mark.bench)]
)
async def test_killed_at_moments_by_chance(kills: int, seed: int, playground: str, tmp_path: Path) -> None:
    chance = Random(seed)
    home = tmp_path / "home"
    async with proxying(playground) as proxy:
        proxy.choose(slow_changes(chance))
        place = await asyncio.to_thread(built, tmp_path, playground, proxy.address)
        life = Life(place, home, await admitted(place, home), chance)
        for _ in range(kills):
            await life.be_killed(new_runs=6)
        async with asyncio.timeout(300):
            whole = await life.come_to_an_end()
    outcomes = await asyncio.to_thread(check, life, whole)
    seen = sum(len(one.seen) for one in life.told)
    print(
        f"\n{kills} kills, {len(life.told)} runs ({fmean(life.under_way):.1f} under way at a kill), {len(life.air)} changes "
        f"in the air, {seen} events told before a kill; outcomes {dict(outcomes)}, said of the changes {dict(life.said)}"
    )
