"""A training from beginning to end, of an encoder so small that it takes seconds. Needs torch."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
import shutil
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.errors import UnavailableError, UsageError
from retriever.training.checkpoints import CheckpointFolder
from retriever.training.encoder import TrainedEncoder, compute_similarities
from retriever.training.examples import DocumentCorpus, TrainingExample, add_negatives, compute_fingerprint
from retriever.training.finetune import TrainingResult, finetune_encoder
from retriever.training.recipe import TrainingRecipe
from retriever.training.validation import HeldOutEvaluator
from retriever.training.written_negatives import WrittenNegative
from tests.support.small_catalogue import ASKED, DOCUMENTS, catalogue, row

pytestmark = [
    pytest.mark.neural,
    pytest.mark.timeout(600),
    # torch and transformers warn of their own inner workings.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]
CORPUS = catalogue()
EXAMPLES = [TrainingExample(request, (row(CORPUS, *tool),)) for tool, requests in ASKED.items() for request in requests]
NEAR = [[place for place in range(len(CORPUS.ids)) if place not in one.positive_rows] for one in EXAMPLES]


@pytest.fixture
def recipe(base: Path) -> TrainingRecipe:
    return TrainingRecipe(
        base=str(base), epochs=4, batch=6, learning_rate=3e-3, hard=3, judged=1, patience=9, ceiling=1.0
    )


class Told:
    """What a training tells; stops it after so many steps, as Ctrl-C would."""

    def __init__(self, stop_after: int = 0) -> None:
        self.began = (0, 0)
        self.losses: list[float] = []
        self.said: list[str] = []
        self._stop_after = stop_after

    def begin(self, done: int, total: int) -> None:
        self.began = (done, total)

    def step(self, done: int, total: int, loss: float) -> None:
        self.losses.append(loss)
        if done == self._stop_after:
            raise KeyboardInterrupt

    def report(self, text: str) -> None:
        self.said.append(text)


def train(
    recipe: TrainingRecipe,
    out: Path,
    stop_after: int = 0,
    examples: list[TrainingExample] = EXAMPLES,
    corpus: DocumentCorpus = CORPUS,
) -> tuple[TrainingResult, Told]:
    told = Told(stop_after)
    judge = HeldOutEvaluator(corpus, EXAMPLES, NEAR)
    near = (NEAR * (len(examples) // len(NEAR) + 1))[: len(examples)]
    checkpoints = CheckpointFolder(out / "checkpoint", recipe, compute_fingerprint(corpus, examples))
    return finetune_encoder(corpus, examples, near, judge, checkpoints, out / "model", told), told


def vectors(recipe: TrainingRecipe, folder: Path) -> NDArray[np.float32]:
    return TrainedEncoder(recipe, folder).encode([one.request for one in EXAMPLES], True)


def last(out: Path) -> Path:
    """The one checkpoint that is kept."""
    (kept,) = (out / "checkpoint").glob("checkpoint-*")
    return kept


def test_the_loss_falls_and_the_requests_find_their_tools(recipe: TrainingRecipe, tmp_path: Path) -> None:
    trained, told = train(recipe.model_copy(update={"epochs": 8}), tmp_path)
    assert trained.steps == 24
    assert np.mean(told.losses[-3:]) < 0.5 * np.mean(told.losses[:3])
    assert trained.best.ndcg > trained.judgements[0].ndcg + 0.1
    assert sum("mining" in text for text in told.said) == len(trained.left_out) == 7


def test_the_best_weights_are_left(recipe: TrainingRecipe, tmp_path: Path) -> None:
    trained, _ = train(recipe, tmp_path)
    judge = HeldOutEvaluator(CORPUS, EXAMPLES, NEAR)
    assert judge.evaluate(TrainedEncoder(recipe, tmp_path / "model")) == pytest.approx(trained.best.ndcg)
    assert trained.best.ndcg == max(one.ndcg for one in trained.judgements)


@pytest.mark.parametrize("stop_after", [2, 7, 12])
def test_an_interrupted_training_goes_on_to_the_same_weights(
    recipe: TrainingRecipe, tmp_path: Path, stop_after: int
) -> None:
    whole, _ = train(recipe, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "parts", stop_after)
    rest, told = train(recipe, tmp_path / "parts")
    assert (rest.judgements, rest.left_out, rest.steps) == (whole.judgements, whole.left_out, whole.steps)
    assert len(told.losses) == 12 - (stop_after - 1) // 3 * 3, "it goes on from its last judgement"
    parts, at_once = tmp_path / "parts", tmp_path / "whole"
    assert np.array_equal(vectors(recipe, parts / "model"), vectors(recipe, at_once / "model"))
    assert np.array_equal(vectors(recipe, last(parts)), vectors(recipe, last(at_once)))


def test_a_training_that_is_done_is_not_done_again(recipe: TrainingRecipe, tmp_path: Path) -> None:
    first, said = train(recipe, tmp_path)
    assert not any("ended already" in text for text in said.said)
    again, told = train(recipe, tmp_path)
    assert (told.began, told.losses) == ((12, 12), [])
    assert told.said == ["the training had ended already, at step 12"]
    assert (again.judgements, again.seconds) == (first.judgements, first.seconds)


def test_the_same_seed_gives_the_same_weights_and_another_one_others(recipe: TrainingRecipe, tmp_path: Path) -> None:
    one, other = train(recipe, tmp_path / "one")[0], train(recipe, tmp_path / "other")[0]
    assert one.judgements == other.judgements
    known = vectors(recipe, last(tmp_path / "one"))
    assert np.array_equal(known, vectors(recipe, last(tmp_path / "other")))
    train(recipe.model_copy(update={"seed": 8}), tmp_path / "third")
    assert not np.allclose(known, vectors(recipe, last(tmp_path / "third")))


def test_another_recipe_or_other_requests_in_the_same_folder_are_refused(
    recipe: TrainingRecipe, tmp_path: Path
) -> None:
    train(recipe, tmp_path)
    with pytest.raises(UsageError, match="another recipe"):
        train(recipe.model_copy(update={"epochs": 5}), tmp_path)
    with pytest.raises(UsageError, match="other requests or documents"):
        train(recipe, tmp_path, examples=EXAMPLES[:-1])


@pytest.mark.parametrize("stop_after", [4, 0])
def test_best_weights_that_are_gone_are_told(recipe: TrainingRecipe, tmp_path: Path, stop_after: int) -> None:
    with pytest.raises(KeyboardInterrupt) if stop_after else nullcontext():
        train(recipe, tmp_path, stop_after)
    shutil.rmtree(tmp_path / "model")
    with pytest.raises(UsageError, match=r"model with the best weights is gone.*remove .*checkpoint to begin"):
        train(recipe, tmp_path)
    assert not (tmp_path / "model").exists()
    shutil.rmtree(tmp_path / "checkpoint")
    train(recipe, tmp_path)
    assert (tmp_path / "model" / "model.safetensors").exists()


@pytest.mark.parametrize(
    "file",
    ["optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json", "model.safetensors", "config.json"],
)
def test_a_damaged_checkpoint_is_told_with_what_to_do(recipe: TrainingRecipe, tmp_path: Path, file: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path, stop_after=4)
    whole = (last(tmp_path) / file).read_bytes()
    for kept in (whole[: len(whole) // 2], b""):
        (last(tmp_path) / file).write_bytes(kept)
        with pytest.raises(UsageError, match=r"checkpoint is damaged \(.+\); remove it to begin the training anew$"):
            train(recipe, tmp_path)


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA error: device is busy"), PermissionError(13, "Permission denied"), MemoryError()]
)
def test_a_fault_of_the_machine_damages_no_checkpoint(
    recipe: TrainingRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    import torch

    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path, stop_after=4)

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(torch, "load", fail)
        with pytest.raises((UnavailableError, MemoryError)) as told:
            train(recipe, tmp_path)
    assert "remove" not in str(told.value)
    train(recipe, tmp_path)


def test_it_stops_where_nothing_is_gained(recipe: TrainingRecipe, tmp_path: Path) -> None:
    still = recipe.model_copy(update={"learning_rate": 1e-12, "patience": 2})
    trained, _ = train(still, tmp_path)
    assert trained.stopped
    assert (trained.steps, len(trained.judgements), trained.best.step) == (6, 3, 0)


def test_written_negatives_are_learnt_from(recipe: TrainingRecipe, tmp_path: Path) -> None:
    asked = EXAMPLES[0]
    written = WrittenNegative(
        request=asked.request,
        tool=CORPUS.ids[asked.positive_rows[0]],
        api="rain today",
        description="will it rain today",
    )
    often, recipe = EXAMPLES * 12, recipe.model_copy(update={"epochs": 1})
    corpus, examples = add_negatives(CORPUS, often, [written], {one.id: one for one in DOCUMENTS})
    texts = [corpus.texts[asked.positive_rows[0]], corpus.texts[-1]]

    def lead(folder: Path) -> float:
        encoder = TrainedEncoder(recipe, folder)
        right, wrong = compute_similarities(encoder.encode([asked.request], True), encoder.encode(texts, False))[0]
        return float(right - wrong)

    train(recipe, tmp_path / "plain", examples=often)
    train(recipe, tmp_path / "taught", examples=examples, corpus=corpus)
    assert lead(last(tmp_path / "taught")) > lead(last(tmp_path / "plain")) + 0.2


def test_frozen_layers_stay_as_they_are(recipe: TrainingRecipe, tmp_path: Path) -> None:
    import torch

    train(recipe.model_copy(update={"frozen": 1}), tmp_path)
    before, after = (TrainedEncoder(recipe, folder).model.transformers_model for folder in (None, last(tmp_path)))
    moved = {
        name
        for (name, old), new in zip(before.named_parameters(), after.parameters(), strict=True)
        if not torch.equal(old, new)
    }
    assert any(name.startswith("encoder.layer.1.") for name in moved)
    assert not any(name.startswith(("embeddings.", "encoder.layer.0.")) for name in moved)


def test_in_bfloat16_it_learns_as_well(recipe: TrainingRecipe, tmp_path: Path) -> None:
    exact, rough = (
        recipe.model_copy(update={"precision": "float32"}),
        recipe.model_copy(update={"precision": "bfloat16"}),
    )
    train(exact, tmp_path / "exact")
    trained, _ = train(rough, tmp_path / "rough")
    assert trained.best.ndcg > trained.judgements[0].ndcg
    assert not np.array_equal(vectors(recipe, last(tmp_path / "exact")), vectors(recipe, last(tmp_path / "rough")))


def test_weights_that_are_not_at_hand_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="none are not at hand"):
        TrainedEncoder(TrainingRecipe(base=str(tmp_path / "none")))
