"""A command as short as can be that runs a program in the sandbox: its exit code is told by the program, and by nothing else.

``short_process.py CODE HOW``: closed (the sandbox is), left (it is not), busy (a program still computes), waiting (one waits for a call).
"""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agent.programs.program_types import ReturnedValue, SandboxLimits
from agent.programs.sandbox import MontySandbox


async def main(code: int, how: str) -> int:
    sandbox = MontySandbox(SandboxLimits(seconds=2, workers=2))
    async with sandbox.open_session() as session:
        stop = await session.start(f"sum([{code}, 0])", {})
    if how == "closed":
        await sandbox.close()
    elif how in ("busy", "waiting"):
        other = await sandbox.open_session().__aenter__()
        text = "await find(n=1)" if how == "waiting" else "while True:\n    pass"
        task = asyncio.create_task(other.start(text, {}))
        await asyncio.sleep(0.01)
        del task
    return int(str(stop.value)) if isinstance(stop, ReturnedValue) else 99


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]), sys.argv[2])))
