"""The commands of a training as a user runs them, and files of a catalogue of seven tools for them."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from tests.support.small_catalogue import APIS, ASKED

SCRIPTS = Path(__file__).resolve().parents[4] / "scripts"


def run(name: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", **environment},
        timeout=300,
        check=False,
    )


def lines(path: Path, records: Iterable[Mapping[str, object]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def write_sources(folder: Path) -> dict[str, Path]:
    """Files by the option that takes them."""
    tools: list[dict[str, object]] = [
        {"category": "c", "tool_name": name, "api_name": api, "function": f"{api}_for_{name}", "description": about}
        for name, apis in APIS.items()
        for api, about in apis.items()
    ]
    walked: list[dict[str, object]] = [
        {
            "id": request,
            "source": "s",
            "query": request,
            "calls": [{"function": f"{api}_for_{name}", "arguments": {}, "observation": "{}", "ok": True}],
            "finish": "give_answer",
        }
        for (name, api), requests in ASKED.items()
        for request in requests
    ]
    relevant = [{"category": "c", "tool": "sky", "api": "wind"}]
    measured = {"split": "G1", "query_id": "1", "query": "a request that is measured", "relevant": relevant}
    return {
        "tools": lines(folder / "tools.jsonl", tools),
        "trajectories": lines(folder / "trajectories.jsonl", walked),
        "measured": lines(folder / "measured.jsonl", [measured]),
    }


def given(sources: Mapping[str, Path], *names: str) -> list[object]:
    """As arguments; all of them where none is named."""
    return [part for name in names or sources for part in (f"--{name}", sources[name])]
