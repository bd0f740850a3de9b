"""Programs that are broken off after each of their events and go on over their record: they end as they would have, each change made once."""

from collections import Counter
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from agent.programs import program_runner
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.errors import ConflictError
from domain.event import CallFinished, CallStarted, Event, EventRecord, ProgramEnded, ProgramFailed
from server.runs.call_layers import LedgerExecutor
from server.storage.storage import Storage
from tests.support.program_runs import AllowsAll, Host, Work
from tests.support.row_samples import run, user

PROGRAMS: dict[str, tuple[str, ...]] = {
    "side by side": (
        "import asyncio\nasync def one(n):\n    had = await get(name=n)\n    await add(name=n + 'x')\n    return (await get(name=n + 'x'))['times']\n"
        "sorted(await asyncio.gather(*[one(n) for n in await names()]))",
    ),
    "identical writes": (
        "for n in range(3):\n    await add(name='x')\nawait add(name='x')\n(await get(name='x'))['times']",
    ),
    "read after change": (
        "one = await get(name='a')\ntwo = await get(name='a')\nawait add(name='a')\nthree = await get(name='a')\n"
        "[one['times'], two['times'], three['times']]",
    ),
    "failures caught": (
        "import asyncio\nasync def one(n):\n    try:\n        return (await fail(name=n))['none']\n    except ToolError as error:\n        "
        "await add(name=n)\n        return str(error)\nawait asyncio.gather(one('x'), one('y'))\nawait get(name='y')",
    ),
    "many": (
        "import asyncio\nasync def one(n):\n    return (await get(name=n))['name'] + (await get(name=n + n))['name'][:1]\n"
        "len(''.join(await asyncio.gather(*[one(str(n)) for n in range(6)]))) * 2",
    ),
    "a repair": (
        "import asyncio\nawait add(name='x')\nfound = await asyncio.gather(*[get(name=n) for n in await names()])\nfound[0]['none']",
        "await add(name='y')\nsorted(one for one in await names())",
    ),
}  # fmt: skip


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=2))
    yield made
    await made.close()


@pytest.mark.parametrize("name", list(PROGRAMS))
async def test_a_program_goes_on_after_each_of_its_events(name: str, sandbox: MontySandbox, storage: Storage) -> None:
    texts, of = PROGRAMS[name], await user(storage)

    async def working(host: Host, run_id: str, *past: EventRecord) -> Work:
        return Work(sandbox, LedgerExecutor(host, storage.effects, run_id), past, ledger=True, approver=AllowsAll())

    plain = Host()
    whole = await (await working(plain, (await run(storage, of))[0].id)).records(*texts)
    assert isinstance(whole[-1].event, ProgramEnded)
    for cut in range(1, len(whole) + 1):
        host, run_id = Host(Random(cut)), (await run(storage, of))[0].id
        before = await (await working(host, run_id)).records(*texts, until=cut)
        in_the_air = any(one.finished_at is None for one in await storage.effects.list_all(run_id))
        records = await (await working(host, run_id, *before)).records(*texts)
        assert records[: len(before)] == before
        if in_the_air:  # nobody is there to say what became of it
            assert isinstance(end := records[-1].event, ProgramFailed)
            assert end.final
            assert Counter(host.changes) <= Counter(plain.changes)
            continue
        assert records[-1].event == whole[-1].event, (cut, records[-1])
        assert Counter(host.changes) == Counter(plain.changes), cut
        assert happened(records) == happened(whole), cut
        steps = [one.event.step for one in records if isinstance(one.event, CallStarted)]
        assert sorted(steps) == list(range(min(steps), len(steps) + min(steps)))


async def test_it_may_be_broken_off_again_and_again(sandbox: MontySandbox, storage: Storage) -> None:
    of, chance, ends = await user(storage), Random(7), Counter[str]()
    for life in range(20):
        host, run_id, records = Host(Random(life)), (await run(storage, of))[0].id, list[EventRecord]()
        while not records or not isinstance(records[-1].event, ProgramEnded | ProgramFailed):
            work = Work(sandbox, LedgerExecutor(host, storage.effects, run_id), records, ledger=True)
            records = await work.records(*PROGRAMS["side by side"], until=len(records) + chance.randint(1, 4))
        assert all(times == 1 for times in Counter(host.changes).values())
        ends[records[-1].event.kind] += 1
        if isinstance(records[-1].event, ProgramEnded):
            assert sorted(host.changes) == ["ax", "bx", "cx"]
    assert set(ends) == {"program.ended", "program.failed"}


@pytest.mark.parametrize("at_once", [1, 3, 20])
async def test_calls_are_found_by_what_they_are_whatever_their_order(
    at_once: int, sandbox: MontySandbox, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, text = await user(storage), PROGRAMS["many"][0]
    for cut in (3, 9, 14, 20):
        host, run_id = Host(Random(cut)), (await run(storage, of))[0].id
        with monkeypatch.context() as patched:
            patched.setattr(program_runner, "MAX_CONCURRENT_CALLS", 6)
            work = Work(sandbox, LedgerExecutor(host, storage.effects, run_id), ledger=True)
            before = await work.records(text, until=cut)
        monkeypatch.setattr(program_runner, "MAX_CONCURRENT_CALLS", at_once)
        records = await Work(sandbox, LedgerExecutor(host, storage.effects, run_id), before, ledger=True).records(text)
        end = records[-1].event
        assert isinstance(end, ProgramEnded)
        assert end.answer == "24"
        begun = [one.event for one in records if isinstance(one.event, CallStarted)]
        assert len({one.site for one in begun}) == len(begun) == 12
        assert sorted(one.step for one in begun) == list(range(1, 13))
        assert len([one for one in records if isinstance(one.event, CallFinished)]) == 12


async def test_a_record_that_cannot_be_followed_ends_a_run_that_has_changed_something(
    sandbox: MontySandbox, storage: Storage
) -> None:
    run_id = (await run(storage, await user(storage)))[0].id
    ledger = LedgerExecutor(Host(), storage.effects, run_id)
    before = await Work(sandbox, ledger, ledger=True).records("await add(name='x')\nawait get(name='x')\n1")
    longer = [
        *before[:3],
        *(one.model_copy(update={"seq": 3 + n, "event": _elsewhere(one.event)}) for n, one in enumerate(before[1:], 1)),
    ]
    with pytest.raises(ConflictError, match="had made calls that change something"):
        await Work(sandbox, ledger, longer, ledger=True).records("await add(name='x')\nawait get(name='x')\n1")


def _elsewhere(event: Event) -> Event:
    """The same call at another place."""
    if isinstance(event, CallStarted | CallFinished):
        return event.model_copy(update={"site": f"{event.site}0", "step": event.step + 2})
    return event


def happened(records: list[EventRecord]) -> Counter[str]:
    """What was told, each call by its place and arguments, in whatever order."""
    told: Counter[str] = Counter()
    for one in records:
        match one.event:
            case CallStarted(site=site, tool=tool, arguments=arguments):
                told[f"begun {site} {tool} {arguments}"] += 1
            case CallFinished(site=site, result=result):
                told[f"ended {site} {result.tool} {result.arguments} {result.status}"] += 1
            case other:
                told[other.kind] += 1
    return told
