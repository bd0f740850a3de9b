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


def limit_resources(memory: int, cpu: int, file_size: int) -> None:
    """Set the resource limits of this process, which its children inherit, without raising a hard limit."""
    for resource_kind, requested in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),  # a core dump would contain the caller's keys
    ):
        _, hard = resource.getrlimit(resource_kind)
        limit = requested if hard == resource.RLIM_INFINITY else min(requested, hard)
        resource.setrlimit(resource_kind, (limit, limit))


def main() -> None:
    """Apply the limits and replace this process by the command."""
    memory, cpu, file = (int(word) for word in sys.argv[1:4])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    limit_resources(memory, cpu, file)
    os.execv(sys.argv[4], sys.argv[4:])  # noqa: S606  # the command line comes from an administrator


if __name__ == "__main__":
    main()
