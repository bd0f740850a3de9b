"""How long the event loop is held: the processor's time of its longest piece of work, whatever else the machine does meanwhile."""

import gc
import time
from asyncio.events import Handle
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Held:
    """``longest``: seconds of the thread's own processor time, which waiting for anything does not add to."""

    longest: float = 0.0


@contextmanager
def measured() -> Generator[Held]:
    """Every callback of every loop is measured within the block; what other tests have left is not collected meanwhile."""
    held, plain = Held(), Handle._run

    def timed(self: Handle) -> None:
        began = time.thread_time()
        plain(self)
        held.longest = max(held.longest, time.thread_time() - began)

    Handle._run = timed
    gc.freeze()
    try:
        yield held
    finally:
        gc.unfreeze()
        Handle._run = plain
