"""How far long work is: bars on a terminal; now and then a line where stderr is a file. All on stderr."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

if TYPE_CHECKING:
    from graph.ingest import ImportProgress

FIRST_SECONDS = 5.0
"""Work that ends sooner tells nothing."""
_SLOWER = 1.3
"""So many times as long as before each line is the wait for the next: a day of work tells some thirty lines."""

console = Console(stderr=True)


@contextmanager
def progress_bars() -> "Generator[ImportProgress]":
    """What is to be told of each step."""
    if not console.is_terminal:
        yield progress_lines(lambda line: console.print(line, markup=False, soft_wrap=True, highlight=False))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=console) as bars:

        def advance(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance


def progress_lines(tell: Callable[[str], None], clock: Callable[[], float] = monotonic) -> "ImportProgress":
    """Tells where the work is when that is due: after :data:`FIRST_SECONDS`, then ever more rarely."""
    begun = clock()
    wait, due = FIRST_SECONDS, begun + FIRST_SECONDS

    def advance(stage: str, done: int, total: int | None) -> None:
        nonlocal wait, due
        now = clock()
        if now < due:
            return
        wait *= _SLOWER
        due = now + wait
        share = f" of {total:,} ({done / total:.0%})" if total else ""
        tell(f"{stage}: {done:,}{share}, after {now - begun:.0f} s")

    return advance
