"""Where a training stands, on the disk: whatever interrupts it, it goes on from its last judgement."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import EINVAL
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from domain.errors import UnavailableError, UsageError
from retriever.training.recipe import Recipe
from retriever.training.validation import Judgement

_OF_THE_MACHINE = ("CUDA", "allocate memory")
"""In torch's errors that say nothing of a file."""
_STATE = "trainer_state.json"
_WRITTEN = ("model.safetensors", "modules.json", "optimizer.pt", "scheduler.pt", "rng_state.pth")
"""Files of a checkpoint, of which the trainer would pass over some that are gone; ``_STATE`` is written after them."""


@dataclass
class Standing:
    """``mined``: the last epoch that negatives were mined for, which ``negatives`` are. ``seconds``: spent up to the last judgement."""

    mined: int = 0
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    left_out: list[int] = field(default_factory=list[int])
    negatives: dict[str, list[list[int]]] = field(default_factory=dict[str, list[list[int]]])
    seconds: float = 0.0

    @property
    def step(self) -> int:
        """That of the last judgement, which is where a training goes on."""
        return self.judgements[-1].step if self.judgements else 0


class Checkpoints:
    """Those of one training, which the trainer writes into ``folder``; of another recipe's it goes on with nothing."""

    def __init__(self, folder: Path, recipe: Recipe, data: str = "") -> None:
        """``data``: names what is learnt from. ``UsageError`` where a training of another recipe, or on something else, stands there."""
        self.folder = folder
        self.recipe = recipe
        self._data = data
        known, of = folder / "recipe.json", folder / "data"
        if (folder / "state.json").exists():
            raise UsageError(f"{folder} holds a training of an earlier version; choose another --out, or remove it")
        if known.exists() and _recipe(known) != recipe:
            raise UsageError(f"{folder} holds a training of another recipe; choose another --out, or remove it")
        if of.exists() and of.read_text(encoding="utf-8") != data:
            raise UsageError(
                f"{folder} holds a training on other requests or documents; choose another --out, or remove it"
            )

    @property
    def last(self) -> Path | None:
        """The newest checkpoint that was written to its end; None at the beginning."""
        whole = [path.parent for path in self.folder.glob(f"checkpoint-*/{_STATE}")]
        return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def read(self) -> Standing:
        """How it stands. ``UsageError``: what is kept is damaged; ``UnavailableError``: it cannot be read now."""
        last = self.last
        if last is None:
            return Standing()
        with self.undamaged():
            for name in _WRITTEN:
                if not (last / name).exists():
                    raise ValueError(f"{name} is gone")
            told = orjson.loads((last / _STATE).read_bytes())["stateful_callbacks"]["Course"]["attributes"]
            return Standing(**told | {"judgements": [Judgement(**one) for one in told["judgements"]]})

    def sign(self) -> None:
        """Say whose checkpoints these are."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "recipe.json").write_text(self.recipe.model_dump_json(), encoding="utf-8")
        (self.folder / "data").write_text(self._data, encoding="utf-8")

    @contextmanager
    def undamaged(self) -> Generator[None]:
        """Tells what reading the last checkpoint fails with; where there is none, and for what is no failure of reading, errors pass."""
        try:
            yield
        except Exception as error:  # a cut file ends in many kinds, some of them no more than Exception
            if self.last is None or isinstance(error, MemoryError | UsageError):
                raise
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> UsageError | UnavailableError:
        cause = error.__cause__ or error
        reason = " ".join(str(cause).split())[:200] or type(cause).__name__
        # EINVAL is what torch says of a file that ends too early.
        by_system = isinstance(cause, OSError) and cause.errno not in {None, EINVAL}
        if by_system or any(word in reason for word in _OF_THE_MACHINE):
            return UnavailableError(f"{self.folder} cannot be read ({reason}); it is kept, try again")
        return UsageError(f"{self.folder} is damaged ({reason}); remove it to begin the training anew")


def _recipe(path: Path) -> Recipe | None:
    """A setting that the file does not name had its default value, and before precisions were told it was float32; None: it is another version's."""
    try:
        told: dict[str, Any] = {"precision": "float32"} | orjson.loads(path.read_bytes())
        return Recipe.model_validate(told)
    except (ValidationError, TypeError, orjson.JSONDecodeError):
        return None
