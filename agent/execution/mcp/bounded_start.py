"""Limit this process, then replace it by a command: ``bounded_start.py MEMORY CPU FILE WORD…``.

MEMORY and FILE are in bytes, CPU in seconds. Only the standard library is imported, as this runs under ``-I -S``.
The limits hold for every process that the command starts. On Linux, the command is killed together with the thread
that started it.
"""

import ctypes
import os
import resource
import signal
import sys

_DIE_WITH_PARENT = 1
"""Option ``PR_SET_PDEATHSIG`` of prctl(2)."""


def bind(memory: int, cpu: int, file: int) -> None:
    """Set the resource limits of this process, which its children inherit, without raising a hard limit."""
    for what, bound in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, file),
        (resource.RLIMIT_CORE, 0),  # a core dump would hold the caller's keys
    ):
        _, hard = resource.getrlimit(what)
        most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Apply the limits and execute the command; it does not return."""
    memory, cpu, file = (int(one) for one in sys.argv[1:4])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    bind(memory, cpu, file)
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606  # an administrator's words


if __name__ == "__main__":
    main()
