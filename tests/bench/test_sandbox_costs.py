"""What a program costs besides its calls: memory of a worker, against this process; a session and a check, against the call that they stand beside."""

import os
import time
from pathlib import Path

import pytest

from agent.programs.program_checks import check_program
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from tests.support.good_programs import PROGRAMS
from tests.support.scripted_host import driven
from tests.unit.agent.programs.test_checking import FUNCTIONS, OFFER

pytestmark = pytest.mark.bench


def own_memory(process: str) -> int:
    """Kilobytes that a process shares with no other."""
    fields = (line.split() for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:])
    return sum(int(field[1]) for field in fields if field[0] in ("Private_Clean:", "Private_Dirty:"))


def workers() -> list[str]:
    """The workers of this process."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = entry.read_text().partition(") ")
        except OSError:
            continue
        found += [entry.parent.name] if "monty" in name and rest.split()[1] == str(os.getpid()) else []
    return found


async def test_what_a_program_costs() -> None:
    sandbox = MontySandbox(SandboxLimits(workers=2))
    try:
        async with sandbox.open_session() as session:
            await driven(session, "x = list(range(1000))\nlen(x)")
            memory = [own_memory(process) for process in workers()]
        runs, checks = 30, len(PROGRAMS)
        began = time.perf_counter()
        for _ in range(runs):
            async with sandbox.open_session() as session:
                await driven(session, "x = await find(n=1)\nx")
        run = (time.perf_counter() - began) / runs
        began = time.perf_counter()
        for text in PROGRAMS:
            await check_program(text, OFFER, FUNCTIONS, sandbox, {})
        checked = (time.perf_counter() - began) / checks
        after = [own_memory(process) for process in workers()]
    finally:
        await sandbox.close()
    print(
        f"\nworker's own memory {max(memory)} kB, {max(after)} kB after checks; session with a call {1000 * run:.1f} ms; check {1000 * checked:.0f} ms"
    )
    assert max(memory) < 20_000
    assert max(after) < 100_000
    assert run < 0.2
    assert checked < 0.5
