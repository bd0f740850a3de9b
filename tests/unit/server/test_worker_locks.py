"""Who is alive, as told by locks that end with their process."""

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from server.runs.worker_locks import find_dead_workers, forget_workers, hold_worker_lock
from tests.support.source_tree import ROOT

LIVING = """
import asyncio, sys
from pathlib import Path
from server.runs.worker_locks import hold_worker_lock

async def live() -> None:
    async with hold_worker_lock(Path(sys.argv[1]), sys.argv[2]):
        print("up", flush=True)
        await asyncio.sleep(60)

asyncio.run(live())
"""


@contextmanager
def living(home: Path, name: str) -> Generator[subprocess.Popen[str]]:
    """A process that is known as alive."""
    command = [sys.executable, "-c", LIVING, str(home), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        try:
            yield process
        finally:
            process.kill()


def test_who_was_killed_is_known_and_who_lives_is_not_taken_for_dead(tmp_path: Path) -> None:
    assert find_dead_workers(tmp_path) == []
    with living(tmp_path, "other") as other, living(tmp_path, "mine"):
        assert find_dead_workers(tmp_path) == []
        other.kill()
        other.wait()
        assert find_dead_workers(tmp_path) == ["other"]
    forget_workers(tmp_path, ["other", "mine", "never heard of"])
    assert find_dead_workers(tmp_path) == []


def test_an_orderly_end_leaves_no_sign(tmp_path: Path) -> None:
    async def live() -> None:
        async with hold_worker_lock(tmp_path, "mine"):
            assert await asyncio.to_thread(find_dead_workers, tmp_path) == []

    asyncio.run(live())
    assert find_dead_workers(tmp_path) == []
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_home_that_cannot_be_written_costs_the_sign_only(tmp_path: Path) -> None:
    home = tmp_path / "a file"
    home.write_text("in the way")

    async def live() -> None:
        async with hold_worker_lock(home, "mine"):
            assert await asyncio.to_thread(find_dead_workers, home) == []

    asyncio.run(live())
