"""Kill -9 of servers while programs change something: nothing told is lost, nothing is done twice, identical changes as often as the text says."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from domain.event import EventRecord, RunFinished
from tests.flows.killing import Life, admitted, slow_changes
from tests.models.brain import Brain
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server_in_thread
from tests.models.prompt_reading import blocks
from tests.support.fault_proxy import proxying
from tests.support.playground_process import running_playground
from tests.support.program_world import code
from tests.support.server_process import built, effects

pytestmark = pytest.mark.timeout(1800)
_MARK = re.compile(r"plan \d{4}")
_ADDS = re.compile(r"async def (\w+)\(title: ")


@pytest.fixture
def playground() -> Iterator[str]:
    """One of the test's own, with nothing in its ledger."""
    with running_playground() as address:
        yield address


def request_for(mark: str) -> str:
    """A request that takes four changes, two of them the same."""
    return f'Put "{mark}" on my to-do list in two parts, and "{mark} again" twice, due 2026-07-23. How many tasks did I get?'


def program(request: ChatRequest) -> str:
    """Changes side by side, then the same change twice. It takes nothing out of their answers, which may be lost with a server."""
    mark, adds = _MARK.search(blocks(request.prompt)["request"]), _ADDS.search(request.prompt)
    assert mark is not None
    assert adds is not None, request.prompt
    return code(
        "import asyncio",
        "async def add(title):",
        f'    await {adds[1]}(title=title, due_date="2026-07-23")',
        f'parts = await asyncio.gather(*[add(f"{mark[0]} part {{n}}") for n in range(2)])',
        f'again = [await add("{mark[0]} again") for n in range(2)]',
        '{"answered": "yes", "answer": f"You got {len(parts) + len(again)} tasks."}',
    )


def check(life: Life, whole: dict[str, list[EventRecord]]) -> Counter[str]:
    """Nothing that was told is missing or another; each change is made as often as its program says. How the runs ended."""
    made = Counter(str(one["arguments"]["title"]) for one in effects(life.place))
    outcomes: Counter[str] = Counter()
    for one in life.told:
        records = whole[one.run]
        assert records[: len(one.seen)] == one.seen
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        mark = one.mark
        wanted = Counter({f"{mark} part 0": 1, f"{mark} part 1": 1, f"{mark} again": 2})
        mine = Counter({title: times for title, times in made.items() if title.startswith(mark)})
        end = records[-1].event
        assert isinstance(end, RunFinished)
        told = [record.event.model_dump_json() for record in records]
        assert (mine, end.outcome) == (wanted, "answered") or (mine <= wanted and one.run in life.left), told
        outcomes[end.outcome] += 1
    return outcomes


@pytest.mark.parametrize(
    ("kills", "seed"), [pytest.param(2, 7, id="two"), pytest.param(30, 30, id="thirty", marks=pytest.mark.bench)]
)
async def test_killed_at_moments_by_chance(kills: int, seed: int, playground: str, tmp_path: Path) -> None:
    chance, home = Random(seed), tmp_path / "home"
    with model_server_in_thread(Brain(program=[program])) as model:
        async with proxying(playground) as proxy:
            proxy.choose(slow_changes(chance))
            place = await asyncio.to_thread(built, tmp_path, playground, proxy.address)
            variables = {"FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules"}
            life = Life(
                place,
                home,
                await admitted(place, home),
                chance,
                request_for,
                {"policy": "llm", "planner": "program"},
                variables,
                longest=6.0,
            )
            for _ in range(kills):
                await life.be_killed(new_runs=2)
            async with asyncio.timeout(600):
                whole = await life.come_to_an_end()
    outcomes = await asyncio.to_thread(check, life, whole)
    seen = sum(len(one.seen) for one in life.told)
    print(
        f"\n{kills} kills, {len(life.told)} runs ({fmean(life.under_way):.1f} under way at a kill), {len(life.air)} changes "
        f"in the air, {seen} events told before a kill; outcomes {dict(outcomes)}, said of the changes {json.dumps(dict(life.said))}"
    )
