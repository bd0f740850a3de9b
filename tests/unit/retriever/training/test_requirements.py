"""Without the extra ``neural`` a command of a training says so before it reads or writes anything."""

import os
import sys
from pathlib import Path

import pytest

from domain.errors import UnavailableError
from retriever.training.requirements import require_modules
from tests.unit.retriever.training.commands import run

READS = ("--tools", "none", "--trajectories", "none", "--measured", "none")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require_modules("json", "orjson")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UnavailableError, match=r"scikit-learn is not installed: pip install -e '\.\[neural\]'"):
        require_modules("json", "sklearn")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UnavailableError, match=r"^sentence-transformers is not installed"):
        require_modules("sentence_transformers")


@pytest.mark.parametrize(
    ("command", "missing", "name"),
    [
        (("train_retriever.py", *READS, "--out", "out"), "torch", "torch"),
        (("export_encoder.py", "out", "--source", "none"), "torch", "torch"),
        (
            ("train_reranker.py", "--store", "none", *READS[2:4], "--fold", "none", "--out", "out"),
            "sklearn",
            "scikit-learn",
        ),
    ],
)
def test_a_command_needs_the_extra(
    command: tuple[str, ...], missing: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / f"{missing}.py").write_text("raise ImportError")
    monkeypatch.chdir(tmp_path)
    paths = os.pathsep.join(filter(None, (str(hiding), os.environ.get("PYTHONPATH"))))
    done = run(*command, PYTHONPATH=paths)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith(f"{name} is not installed: pip install")
    assert [path.name for path in tmp_path.iterdir()] == ["hiding"]
