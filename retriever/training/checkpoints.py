# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""Where a training stands, on the disk: whatever interrupts it, it goes on from its last judgement."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from domain.errors import UnavailableError, UsageError
from retriever.training.encoder import TrainedEncoder
from retriever.training.recipe import Recipe
from retriever.training.validation import Judgement

_OF_THE_MACHINE = ("CUDA", "allocate memory")
"""In torch's errors that say nothing of a file."""


@dataclass
class Checkpoint:
    """``step``: the next one. ``mined``: the last epoch that negatives were mined for, which ``negatives`` are. ``seconds``: spent up to here."""

    step: int = 0
    mined: int = 0
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    left_out: list[int] = field(default_factory=list[int])
    negatives: dict[str, list[list[int]]] = field(default_factory=dict[str, list[list[int]]])
    seconds: float = 0.0


class Checkpoints:
    """Those of one training; of another recipe's it goes on with nothing."""

    def __init__(self, folder: Path, recipe: Recipe, data: str = "") -> None:
        """``data``: names what is learnt from. ``UsageError`` where a training of another recipe, or on something else, stands there."""
        self.folder = folder
        self._beside = folder.with_name(folder.name + ".new")
        self.recipe = recipe
        self._data = data
        if (self._beside / "state.json").exists():
            self._put_in_place()  # what is whole there was cut short before its last step
        known, of = folder / "recipe.json", folder / "data"
        if known.exists() and _recipe(known) != recipe:
            raise UsageError(f"{folder} holds a training of another recipe; choose another --out, or remove it")
        if of.exists() and of.read_text(encoding="utf-8") != data:
            raise UsageError(
                f"{folder} holds a training on other requests or documents; choose another --out, or remove it"
            )

    @property
    def weights(self) -> Path | None:
        """The folder of the weights as they last were; None at the beginning."""
        return self.folder / "weights" if (self.folder / "state.json").exists() else None

    def encoder(self) -> TrainedEncoder:
        """With the weights as they last were, or the recipe's base at the beginning. ``UsageError``: what is kept is damaged; ``UnavailableError``: it cannot be read now."""
        if self.weights is None:
            return TrainedEncoder(self.recipe)
        with self._undamaged():
            return TrainedEncoder(self.recipe, self.weights)

    def read(self, optimizer: Any, schedule: Any) -> Checkpoint:
        """How it stands; optimizer and schedule are put back, too. Raises as :meth:`encoder`."""
        import torch

        if self.weights is None:
            return Checkpoint()
        with self._undamaged():
            kept: dict[str, Any] = torch.load(self.folder / "optimizer.pt", weights_only=True)
            optimizer.load_state_dict(kept["optimizer"])
            schedule.load_state_dict(kept["schedule"])
            told = orjson.loads((self.folder / "state.json").read_bytes())
            return Checkpoint(**told | {"judgements": [Judgement(**one) for one in told["judgements"]]})

    @contextmanager
    def _undamaged(self) -> Generator[None]:
        import torch

        try:
            yield
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # a cut file ends in many kinds, some of them no more than Exception
            cause = error.__cause__ or error
            reason = " ".join(str(cause).split())[:200] or type(cause).__name__
            if (isinstance(cause, OSError) and cause.errno) or any(word in reason for word in _OF_THE_MACHINE):
                raise UnavailableError(f"{self.folder} cannot be read ({reason}); it is kept, try again") from error
            raise UsageError(f"{self.folder} is damaged ({reason}); remove it to begin the training anew") from error

    def write(self, state: Checkpoint, encoder: TrainedEncoder, optimizer: Any, schedule: Any) -> None:
        """All of it or nothing: it is written beside and put in place of the last one."""
        import torch

        beside = self._beside
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        encoder.save(beside / "weights")
        torch.save({"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, beside / "optimizer.pt")
        (beside / "recipe.json").write_text(self.recipe.model_dump_json(), encoding="utf-8")
        (beside / "data").write_text(self._data, encoding="utf-8")
        (beside / "state.part").write_bytes(orjson.dumps(asdict(state)))
        (beside / "state.part").rename(beside / "state.json")  # from here on it is whole
        self._put_in_place()

    def _put_in_place(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._beside.rename(self.folder)


def _recipe(path: Path) -> Recipe | None:
    """A setting that the file does not name had its default value, and before precisions were told it was float32; None: it is another version's."""
    try:
        return Recipe.model_validate({"precision": "float32"} | orjson.loads(path.read_bytes()))
    except (ValidationError, TypeError, orjson.JSONDecodeError):
        return None
