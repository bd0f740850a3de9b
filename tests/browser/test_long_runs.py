"""A run of a thousand events in a real browser: what it costs to draw it, to follow it and to go through it step by step.

Times of the machine's cores that the page's process and the browser take: they do not depend on what else the machine does.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from domain.event import Event
from tests.browser.everything import Up, children_of
from tests.browser.long_runs import fan_out, put, tell, walk
from tests.browser.visits import drawn, goes, registers, visit

pytestmark = [pytest.mark.bench, pytest.mark.browser, pytest.mark.timeout(900)]
_TICK = os.sysconf("SC_CLK_TCK")
_MEGABYTE = 1_000_000
STEPS = 10


def descendants(pid: int) -> set[int]:
    """Of a process, with itself."""
    parents = {int(stat.parent.name): int(stat.read_text().rpartition(")")[2].split()[1]) for stat in stats()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def stats() -> list[Path]:
    return [one / "stat" for one in Path("/proc").iterdir() if one.name.isdecimal() and (one / "stat").exists()]


def seconds(pids: set[int]) -> float:
    """Of the cores, that these have taken."""
    taken = 0
    for pid in pids:
        try:
            told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        taken += int(told[11]) + int(told[12])
    return taken / _TICK


def megabytes(pid: int) -> float:
    """That a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


class Costs:
    """What actions cost the page's process, and the browser."""

    def __init__(self, page: Page, up: Up) -> None:
        self._page = page
        self.process = children_of(up.process)[-1]
        self.told: dict[str, tuple[float, float]] = {}

    def of(self, name: str, action: Callable[[], None], times: int = 1) -> float:
        """The seconds of each of so many, that the page's process took."""
        browser = descendants(os.getpid()) - {os.getpid()} - descendants(self.process)
        before = seconds({self.process}), seconds(browser)
        for _ in range(times):
            action()
            drawn(self._page)
        mine, theirs = (
            now - then for now, then in zip((seconds({self.process}), seconds(browser)), before, strict=True)
        )
        self.told[name] = mine / times, theirs / times
        return mine / times


@pytest.mark.parametrize("make", [fan_out, walk])
def test_a_run_of_a_thousand_events_stays_usable(
    browser_program: BrowserContext, up: Up, make: Callable[[], list[Event]]
) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        user, events, rows = registers(page, "long"), make(), up.folder / "server" / "rows.db"
        costs = Costs(page, up)
        held = megabytes(costs.process)
        conversation = put(rows, user, "All of them", events)
        address = f"{up.addresses['page']}/?conversation={conversation}"
        summary = page.get_by_text(re.compile(r"^Answered in [0-9.]+ s"))

        def opens() -> None:
            page.goto(address)
            expect(summary).to_be_visible()

        costs.of("open its conversation", opens)
        costs.of("unfold it there", lambda: (summary.click(), expect(page.get_by_text("Time: ")).to_be_visible())[1])
        goes(page, "History")
        row = page.locator(".st-key-past-runs").get_by_role("button", name="All of them", exact=True)
        costs.of("open it in the history", lambda: (row.click(), expect(page.get_by_text("Time: ")).to_be_visible())[1])
        costs.of("begin the replay", lambda: _replay(page))
        slider = page.get_by_role("slider", name="Event")
        slider.press("End")
        expect(page.get_by_text(re.compile(f"^Event {len(events)} of"))).to_be_visible()
        step = costs.of("a step back at its end", _stepping(page, "Event before", len(events)), STEPS)
        live = _follow(page, up, user, rows, events, costs)
        more = megabytes(costs.process) - held
    print(f"\n{make.__name__}: {len(events)} events; the page's process holds {more:.0f} MB more")
    for name, (mine, theirs) in costs.told.items():
        print(f"  {name}: page {mine:.2f} s, browser {theirs:.2f} s")
    assert step < 1
    assert live < 1
    assert more < 150


def _replay(page: Page) -> None:
    page.get_by_role("radio", name="Step by step").click()
    expect(page.get_by_text(re.compile("^Event 1 of "))).to_be_visible()


def _stepping(page: Page, label: str, number: int) -> Callable[[], None]:
    now = number

    def step() -> None:
        nonlocal now
        now -= 1
        page.get_by_role("button", name=label).first.click()
        expect(page.get_by_text(re.compile(f"^Event {now} of"))).to_be_visible()

    return step


def _follow(page: Page, up: Up, user: str, rows: Path, events: list[Event], costs: Costs) -> float:
    """Its last events come one by one while it is looked at."""
    conversation = put(rows, user, "And again", events[:-40])
    page.goto(f"{up.addresses['page']}/?conversation={conversation}")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    page.wait_for_timeout(3_000)
    coming = iter(events[-40:-2])

    def more() -> None:
        tell(rows, conversation, [next(coming)])
        page.wait_for_timeout(1_000)

    taken = costs.of("a second of following it", more, STEPS)
    tell(rows, conversation, [*coming, events[-1]])
    expect(page.get_by_text(re.compile(r"^Answered in [0-9.]+ s"))).to_be_visible()
    return taken
