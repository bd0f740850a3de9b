"""A recipe is read whole, or what is wrong with it is said."""

from pathlib import Path

import pytest

from domain.errors import UsageError
from retriever.training.recipe import TrainingRecipe, read_recipe

RECIPES = sorted((Path(__file__).resolve().parents[4] / "retriever" / "training" / "recipes").glob("*.toml"))


def test_the_rest_is_default(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("epochs = 5\nbatch = 8\n")
    assert read_recipe(tmp_path / "a.toml") == TrainingRecipe(epochs=5, batch=8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epochs = 0", "epochs"),
        ("epoch = 3", "epoch.*a recipe has .*epochs"),
        ("pooling = 'max'", "pooling"),
        ("held_out = 1.0\nbatch = 1", "held_out.*batch|batch.*held_out"),
        ("synthetic_share = 1.0", "synthetic_share"),
        ("epochs =", "no TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match=f"(?s)a.toml.*({said})"):
        read_recipe(tmp_path / "a.toml")


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_recipe(tmp_path / "none.toml")
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="no TOML"):
        read_recipe(tmp_path / "a.toml")


def test_there_are_recipes() -> None:
    assert {path.stem for path in RECIPES} >= {"minilm", "bge_m3"}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_recipes_of_the_project_can_be_read(path: Path) -> None:
    assert read_recipe(path).base
