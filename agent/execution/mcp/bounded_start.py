"""Becomes a command after binding itself: ``python bounded_start.py MEMORY CPU FILE WORD…``, in bytes, seconds and bytes. Nothing beside the standard library.

The limits are those of each process that comes of it. It dies with the thread that started it, where the system can do that.
"""

import ctypes
import os
import resource
import signal
import sys

_DIE_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of prctl(2)."""


def bind(memory: int, cpu: int, file: int) -> None:
    """No more than this, for this process and for each that it starts."""
    for what, bound in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, file),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Never returns."""
    memory, cpu, file = (int(one) for one in sys.argv[1:4])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    bind(memory, cpu, file)
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606  # an administrator's words


if __name__ == "__main__":
    main()
