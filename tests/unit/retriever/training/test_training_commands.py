"""``scripts/train_retriever.py`` and ``scripts/train_reranker.py`` as a user runs them, on a catalogue of seven tools. Need torch."""

import json
import shutil
from pathlib import Path

import pytest

import retriever.embedders.onnx_embedder as bundled
from retriever.encoder_folder import EncoderConfig, read_encoder_config
from retriever.reranker import read_reranker
from tests.support.small_catalogue import ASKED
from tests.unit.retriever.training.commands import given, lines, run, write_sources

pytestmark = [pytest.mark.neural, pytest.mark.timeout(600)]


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    return write_sources(tmp_path)


def asked(file: Path) -> set[str]:
    return {json.loads(line)["query"] for line in file.read_text().splitlines()}


def test_folds_are_trained_and_leave_what_they_did_not_learn_from(
    base: Path, sources: dict[str, Path], tmp_path: Path
) -> None:
    everything = {request for requests in ASKED.values() for request in requests}
    held: list[set[str]] = []
    recipe = tmp_path / "recipe.toml"
    for fold in range(2):
        recipe.write_text(f'base = "{base}"\npooling = "cls"\nepochs = 1\nbatch = 6\nheld_out = 0.5\nfold = {fold}\n')
        out = tmp_path / f"out{fold}"
        done = run(
            "train_retriever.py",
            *given(sources),
            *("--recipe", recipe, "--out", out, "--export", out / "encoder"),
        )
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report == json.loads((out / "report.json").read_text())
        assert (report["steps"], report["examples"]["learnt"], report["recipe"]["fold"]) == (2, 9, fold)
        assert (out / "model" / "model.safetensors").exists()
        assert read_encoder_config(out / "encoder") == EncoderConfig(dimension=32, pooling="cls")
        held.append(asked(out / "held_out.jsonl"))
        assert asked(out / "learnt.jsonl") == everything - held[-1]
    refused = run(
        "train_retriever.py",
        *given(sources),
        "--recipe",
        recipe,
        "--out",
        tmp_path / "out0",
    )
    assert (refused.returncode, "another recipe" in refused.stderr) == (2, True)
    assert asked(tmp_path / "out0" / "held_out.jsonl") == held[0], "what stands there is left as it is"
    assert held[0] | held[1] == everything
    assert not held[0] & held[1]


def test_wrong_use_is_told_in_a_line(sources: dict[str, Path], tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    arguments = [*given(sources), "--recipe", recipe, "--out", tmp_path / "out"]
    for text, told in (("epoch = 1\n", "epoch"), ("fold = 9\n", "there is no fold 9"), ("held_out = 2\n", "held_out")):
        recipe.write_text(text)
        done = run("train_retriever.py", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
        assert "Traceback" not in done.stderr
    recipe.write_text("")
    sources["measured"].write_text("no json\n")
    broken = run("train_retriever.py", *arguments)
    assert (broken.returncode, "cannot be read" in broken.stderr) == (2, True)


def test_a_base_that_is_not_at_hand_is_told_before_the_work(sources: dict[str, Path], tmp_path: Path) -> None:
    cut_off = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    sources["tools"].unlink()
    arguments = [*given(sources), "--base", "nowhere/x", "--out", tmp_path / "out"]
    done = run("train_retriever.py", *arguments, **cut_off)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert done.stderr.startswith("the weights of nowhere/x are not at hand (")
    assert not (tmp_path / "out").exists()
    (tmp_path / "out" / "checkpoint").mkdir(parents=True)
    goes_on = run("train_retriever.py", *arguments, **cut_off)
    assert goes_on.stderr.startswith(f"{sources['tools']} is no file"), "what goes on needs its base no more"


def test_a_re_ranker_is_taught_by_folds(sources: dict[str, Path], tmp_path: Path) -> None:
    store, fold, weights = tmp_path / "store", tmp_path / "fold", tmp_path / "weights.json"
    built = run("build_graph.py", *given(sources, "tools", "trajectories"), "--store", store)
    assert built.returncode == 0, built.stderr
    shutil.copytree(bundled.BUNDLED_FOLDER, fold / "encoder")
    requests = [(request, *tool) for tool, requests in ASKED.items() for request in requests]
    lines(
        fold / "held_out.jsonl",
        ({"split": "one", "query": text, "relevant": [{"tool": name, "api": api}]} for text, name, api in requests),
    )
    arguments = ["--store", store, *given(sources, "trajectories"), "--fold", fold, "--out", weights]
    done = run("train_reranker.py", *arguments)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {"fused", "re-ranked", "re-ranked without precedents"} < set(rows)
    assert rows["re-ranked"]["one"]["n"] == len(requests)
    assert rows["re-ranked"]["one"]["ndcg@5"] > 0.5
    assert read_reranker(weights).encoder == bundled.OnnxEmbedder().identity
    assert "named twice" in run("train_reranker.py", *arguments, "--fold", fold).stderr
    assert "is no folder" in run("train_reranker.py", *arguments[:-1], tmp_path / "none" / "weights.json").stderr
    shutil.rmtree(fold / "encoder")
    again = run("train_reranker.py", *arguments)
    assert again.returncode == 2
    assert "export it with train_retriever.py" in again.stderr
