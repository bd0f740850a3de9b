"""What a command of a training is given and cannot use is told in a line, before anything is read or written."""

from pathlib import Path

import pytest

from tests.unit.retriever.training.commands import given, lines, run, write_sources


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    return write_sources(tmp_path)


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_file_is_no_folder_to_write_in(below: str, sources: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("held")
    for command in (
        ["train_retriever.py", *given(sources), "--out", file / below],
        ["train_retriever.py", *given(sources), "--out", tmp_path / "out", "--export", file / below],
        ["write_examples.py", *given(sources), "--offline", "--out", file / below],
        ["export_encoder.py", file / below],
    ):
        done = run(*map(str, command))
        assert (done.returncode, done.stderr) == (2, f"{file} is no folder: name another one to write in\n")
    assert file.read_text() == "held"
    assert not (tmp_path / "out").exists()


def test_an_unlike_source_is_one_that_is_there(sources: dict[str, Path], tmp_path: Path) -> None:
    arguments = [*given(sources), "--out", tmp_path / "out", "--offline"]
    for unlike in ("foo=3", "s", "s=x", "=3"):
        refused = run("write_examples.py", *arguments, "--unlike", "s=2", "--unlike", unlike)
        assert refused.returncode == 2, unlike
        told = "no trajectory is of the source 'foo'; there are those of s" if unlike == "foo=3" else "wants SOURCE=N"
        assert told in refused.stderr, unlike
        assert not (tmp_path / "out").exists(), unlike
    assert run("write_examples.py", *arguments, "--unlike", "s=2").returncode == 0


@pytest.mark.parametrize("held", [[], [{"name": "x"}, {"description": " "}, {"description": None}]])
def test_texts_without_a_description_are_told_before_the_export(held: list[dict[str, object]], tmp_path: Path) -> None:
    texts = lines(tmp_path / "texts.jsonl", held)
    done = run("export_encoder.py", tmp_path / "out", "--texts", texts)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{texts} has no line with a 'description'")
    assert not (tmp_path / "out").exists()


def test_scales_alone_are_changed_without_other_options(tmp_path: Path) -> None:
    done = run("export_encoder.py", tmp_path / "out", "--exported", tmp_path / "old", "--pooling", "cls")
    assert (done.returncode, done.stderr) == (2, "--exported changes scales only: leave the other options out\n")
    done = run("export_encoder.py", tmp_path / "out", "--exported", tmp_path / "old")
    assert done.returncode == 2
    assert "holds no model.onnx; name the folder of an exported encoder" in done.stderr
    assert not (tmp_path / "out").exists()
