"""Counting official files against bare parsing of the same files in the same run, and memory as the input grows."""

import gc
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import orjson
import pytest

from graph.blocks import count_block, list_file_blocks
from graph.facts import GraphBatch
from graph.function_names import NameIndex
from graph.importers.toolbench_trees import find_tree_files

pytestmark = [pytest.mark.bench, pytest.mark.shared_data, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]


def replicate(answers: Path, into: Path, times: int) -> Path:
    """The official example's answers, ``times`` over, under other names."""
    for group in answers.iterdir():
        (into / group.name).mkdir(parents=True)
        for file in group.iterdir():
            for number in range(times):
                shutil.copyfile(file, into / group.name / f"{number}_{file.name}")
    return into


def parse(folder: Path) -> None:
    for file in find_tree_files(folder):
        with open(file, "rb", buffering=0) as stream:  # noqa: PTH123
            orjson.loads(stream.readall())


def count(folder: Path) -> GraphBatch:
    total, names = GraphBatch(""), NameIndex()
    for block in list_file_blocks(folder):
        total.merge(count_block(block, names).batch)
    return total


def test_ratio_to_bare_parsing(shared_data: Path, tmp_path: Path) -> None:
    folder = replicate(shared_data / "toolbench/official/data_example/answer", tmp_path / "answer", 200)
    parse(folder)
    ratios: list[float] = []
    seconds = 0.0
    for _ in range(5):
        gc.collect()
        start = perf_counter()
        parse(folder)
        middle = perf_counter()
        counted = count(folder)
        seconds = perf_counter() - middle
        ratios.append(seconds / (middle - start))
        assert len(counted.records) == 3_000
    median = statistics.median(ratios)
    print(
        f"\ncounting / orjson.loads of 3,000 files: {median:.2f} (runs {[round(r, 2) for r in ratios]}), {seconds:.2f} s"
    )
    assert median <= 2.5


def test_memory_at_ten_times_the_input(shared_data: Path, tmp_path: Path) -> None:
    answers = shared_data / "toolbench/official/data_example/answer"
    peaks: list[float] = []
    for times in (60, 600):
        folder = replicate(answers, tmp_path / str(times) / "answer", times)
        done = subprocess.run(
            [
                sys.executable,
                str(ROOT / "scripts" / "build_graph.py"),
                "--no-embed",
                "--json",
                "--workers",
                "1",
                "--store",
                str(tmp_path / f"store{times}"),
                "--trajectories",
                str(folder),
            ],
            capture_output=True,
            check=True,
            timeout=300,
        )
        summary = json.loads(done.stdout)
        assert summary["trajectories"]["read"] == 15 * times
        peaks.append(summary["peak_mb"])
        shutil.rmtree(folder)
    print(
        f"\npeak memory: {peaks[0]:.0f} MB, at ten times the input {peaks[1]:.0f} MB, ratio {peaks[1] / peaks[0]:.2f}"
    )
    assert peaks[1] <= 1.2 * peaks[0]
