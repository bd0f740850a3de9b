"""What people type, before it is used."""

import asyncio
import os
import sys

from domain.errors import UsageError


def check_utf8(text: str, what: str) -> None:
    """``UsageError``: bytes that are no UTF-8 were typed, which Python keeps as lone surrogates. ``what`` names the text."""
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise UsageError(f"{what} is not UTF-8 text; set the terminal to UTF-8")


async def next_line() -> str:
    """The next line of the terminal, waited for without a thread, which Ctrl-C could not end; empty at its end."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return os.read(sys.stdin.fileno(), 4_096).decode(errors="replace")
