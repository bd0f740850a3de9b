"""A folder holds one training: it goes on with the same recipe on the same data, and with nothing else."""

import shutil
from pathlib import Path

import pytest

from domain.errors import UsageError
from retriever.training.checkpoints import Checkpoints
from retriever.training.recipe import Recipe


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "recipe.json").write_text(Recipe(epochs=5).model_dump_json())
    (tmp_path / "data").write_text("these requests")
    return tmp_path


def test_an_empty_folder_begins_anew(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none", Recipe()).weights is None


def test_the_same_recipe_on_the_same_data_goes_on(folder: Path) -> None:
    assert Checkpoints(folder, Recipe(epochs=5), "these requests").weights is None
    (folder / "state.json").write_text("{}")
    assert Checkpoints(folder, Recipe(epochs=5), "these requests").weights == folder / "weights"


def test_another_recipe_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="another recipe; choose another --out"):
        Checkpoints(folder, Recipe(epochs=6), "these requests")


def test_other_data_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="other requests or documents; choose another --out"):
        Checkpoints(folder, Recipe(epochs=5), "those requests")


def test_a_setting_that_came_later_had_its_default(folder: Path) -> None:
    (folder / "recipe.json").write_text('{"epochs": 5}')
    assert Checkpoints(folder, Recipe(epochs=5, precision="float32"), "these requests").weights is None
    for other in (Recipe(epochs=5, precision="float32", seed=8), Recipe(epochs=5, precision="bfloat16")):
        with pytest.raises(UsageError, match="another recipe"):
            Checkpoints(folder, other, "these requests")


@pytest.mark.parametrize("held", ["", "[1]", '{"epochs": 5, "unheard_of": 1}'])
def test_a_recipe_that_cannot_be_read_is_another_one(folder: Path, held: str) -> None:
    (folder / "recipe.json").write_text(held)
    with pytest.raises(UsageError, match="another recipe"):
        Checkpoints(folder, Recipe(epochs=5), "these requests")


def test_a_whole_one_that_was_not_put_in_place_is(folder: Path) -> None:
    beside = folder.with_name(folder.name + ".new")
    shutil.copytree(folder, beside)
    (beside / "state.part").write_text("{")
    assert Checkpoints(folder, Recipe(epochs=5), "these requests").weights is None, "it is not whole"
    (beside / "state.json").write_text("{}")
    (folder / "data").unlink()  # removing the former one was cut short
    assert Checkpoints(folder, Recipe(epochs=5), "these requests").weights == folder / "weights"
    assert (folder / "data").exists()
    assert not beside.exists()
