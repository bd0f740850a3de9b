"""A folder holds one training: it goes on with the same recipe on the same data, and with nothing else."""

from pathlib import Path

import pytest

from domain.errors import UsageError
from retriever.training.checkpoints import CheckpointFolder, TrainingState
from retriever.training.recipe import TrainingRecipe


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "recipe.json").write_text(TrainingRecipe(epochs=5).model_dump_json())
    (tmp_path / "data").write_text("these requests")
    return tmp_path


def test_an_empty_folder_begins_anew(tmp_path: Path) -> None:
    checkpoints = CheckpointFolder(tmp_path / "none", TrainingRecipe())
    assert checkpoints.latest is None
    assert checkpoints.read_state() == TrainingState()


def test_it_goes_on_from_the_newest_that_was_written_to_its_end(folder: Path) -> None:
    checkpoints = CheckpointFolder(folder, TrainingRecipe(epochs=5), "these requests")
    for step in (9, 30, 120):
        (folder / f"checkpoint-{step}").mkdir()
    assert checkpoints.latest is None
    for step in (9, 30):
        (folder / f"checkpoint-{step}" / "trainer_state.json").write_text("{}")
    assert checkpoints.latest == folder / "checkpoint-30"


def test_a_file_that_is_gone_is_told(folder: Path) -> None:
    (folder / "checkpoint-30").mkdir()
    (folder / "checkpoint-30" / "trainer_state.json").write_text("{}")
    with pytest.raises(UsageError, match=r"is damaged \(model.safetensors is gone\); remove it to begin"):
        CheckpointFolder(folder, TrainingRecipe(epochs=5), "these requests").read_state()


def test_a_training_of_an_earlier_version_is_refused(folder: Path) -> None:
    (folder / "state.json").write_text("{}")
    with pytest.raises(UsageError, match="an earlier version; choose another --out"):
        CheckpointFolder(folder, TrainingRecipe(epochs=5), "these requests")


def test_another_recipe_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="another recipe; choose another --out"):
        CheckpointFolder(folder, TrainingRecipe(epochs=6), "these requests")


def test_other_data_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="other requests or documents; choose another --out"):
        CheckpointFolder(folder, TrainingRecipe(epochs=5), "those requests")


def test_a_setting_that_came_later_had_its_default(folder: Path) -> None:
    (folder / "recipe.json").write_text('{"epochs": 5}')
    assert CheckpointFolder(folder, TrainingRecipe(epochs=5, precision="float32"), "these requests").latest is None
    for other in (
        TrainingRecipe(epochs=5, precision="float32", seed=8),
        TrainingRecipe(epochs=5, precision="bfloat16"),
    ):
        with pytest.raises(UsageError, match="another recipe"):
            CheckpointFolder(folder, other, "these requests")


@pytest.mark.parametrize("held", ["", "[1]", '{"epochs": 5, "unheard_of": 1}'])
def test_a_recipe_that_cannot_be_read_is_another_one(folder: Path, held: str) -> None:
    (folder / "recipe.json").write_text(held)
    with pytest.raises(UsageError, match="another recipe"):
        CheckpointFolder(folder, TrainingRecipe(epochs=5), "these requests")
