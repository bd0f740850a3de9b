"""State of a training: its progress reports, and the checkpoints from which it resumes at its last evaluation."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import EINVAL
from pathlib import Path
from typing import Any, Protocol

import orjson
from pydantic import ValidationError

from domain.errors import UnavailableError, UsageError
from retriever.training.recipe import TrainingRecipe
from retriever.training.validation import ValidationScore

_MACHINE_ERRORS = ("CUDA", "allocate memory")
"""Parts of those error messages of torch that are about the machine and not about a file."""
_STATE_FILE = "trainer_state.json"
_CHECKPOINT_FILES = ("model.safetensors", "modules.json", "optimizer.pt", "scheduler.pt", "rng_state.pth")
"""Other files of a checkpoint, all written before ``_STATE_FILE``; the trainer would silently do without some."""


@dataclass
class TrainingState:
    """State of a training, as a checkpoint stores it."""

    mined: int = 0
    """Last epoch for which negatives were mined."""
    judgements: list[ValidationScore] = field(default_factory=list[ValidationScore])
    """Evaluations so far, in order."""
    left_out: list[int] = field(default_factory=list[int])
    """Likely false negatives that were left out, by epoch."""
    negatives: dict[str, list[list[int]]] = field(default_factory=dict[str, list[list[int]]])
    """Pools of the negatives mined for that epoch (:attr:`retriever.training.batches.NegativeSampler.state`)."""
    seconds: float = 0.0
    """Time spent up to the last judgement."""

    @property
    def step(self) -> int:
        """Return the step of the last judgement, from which a training resumes."""
        return self.judgements[-1].step if self.judgements else 0


class CheckpointFolder:
    """Checkpoints of one training in ``folder``, which the trainer writes."""

    def __init__(self, folder: Path, recipe: TrainingRecipe, data_fingerprint: str = "") -> None:
        """Use ``folder``, unless it holds another training.

        ``data_fingerprint``: fingerprint of the training data (:func:`retriever.training.examples.compute_fingerprint`).

        Raises:
            UsageError: the folder holds a training of another recipe, other data, or an earlier version.
        """
        self.folder = folder
        self.recipe = recipe
        self._data = data_fingerprint
        recipe_file, data_file = folder / "recipe.json", folder / "data"
        if (folder / "state.json").exists():
            raise UsageError(f"{folder} holds a training of an earlier version; choose another --out, or remove it")
        if recipe_file.exists() and _read_recipe(recipe_file) != recipe:
            raise UsageError(f"{folder} holds a training of another recipe; choose another --out, or remove it")
        if data_file.exists() and data_file.read_text(encoding="utf-8") != data_fingerprint:
            raise UsageError(
                f"{folder} holds a training on other requests or documents; choose another --out, or remove it"
            )

    @property
    def latest(self) -> Path | None:
        """Return the newest complete checkpoint; None at the beginning."""
        complete = [path.parent for path in self.folder.glob(f"checkpoint-*/{_STATE_FILE}")]
        return max(complete, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def read_state(self) -> TrainingState:
        """Read the state of the training.

        Raises:
            UsageError: the checkpoint is damaged.
            UnavailableError: it cannot be read now.
        """
        last = self.latest
        if last is None:
            return TrainingState()
        with self.translate_read_errors():
            for name in _CHECKPOINT_FILES:
                if not (last / name).exists():
                    raise ValueError(f"{name} is gone")
            attributes = orjson.loads((last / _STATE_FILE).read_bytes())["stateful_callbacks"]["Course"]["attributes"]
            return TrainingState(
                **attributes
                | {"judgements": [ValidationScore(**score_fields) for score_fields in attributes["judgements"]]}
            )

    def write_metadata(self) -> None:
        """Write recipe and fingerprint of the data next to the checkpoints."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "recipe.json").write_text(self.recipe.model_dump_json(), encoding="utf-8")
        (self.folder / "data").write_text(self._data, encoding="utf-8")

    @contextmanager
    def translate_read_errors(self) -> Generator[None]:
        """Turn errors from reading the last checkpoint into errors that say what to do.

        Without a checkpoint, and for errors that reading did not cause, they pass unchanged.
        """
        try:
            yield
        except Exception as error:  # a truncated file raises many kinds of errors, some of them bare Exceptions
            if self.latest is None or isinstance(error, MemoryError | UsageError):
                raise
            raise self._build_error(error) from error

    def _build_error(self, error: Exception) -> UsageError | UnavailableError:
        cause = error.__cause__ or error
        reason = " ".join(str(cause).split())[:200] or type(cause).__name__
        # torch raises EINVAL for a file that ends too early.
        # Any other OSError comes from the system, such as a full or unreadable disk.
        by_system = isinstance(cause, OSError) and cause.errno not in {None, EINVAL}
        if by_system or any(word in reason for word in _MACHINE_ERRORS):
            return UnavailableError(f"{self.folder} cannot be read ({reason}); it is kept, try again")
        return UsageError(f"{self.folder} is damaged ({reason}); remove it to begin the training anew")


def _read_recipe(path: Path) -> TrainingRecipe | None:
    """Read a stored recipe; None if another version of Footpath wrote it.

    A missing setting had its default value, except for the precision, which was float32 before it was recorded.
    """
    try:
        settings: dict[str, Any] = {"precision": "float32"} | orjson.loads(path.read_bytes())
        return TrainingRecipe.model_validate(settings)
    except (ValidationError, TypeError, orjson.JSONDecodeError):
        return None


class TrainingProgress(Protocol):
    """Receives the progress of a training, for example to show it."""

    def begin(self, done: int, total: int) -> None:
        """Report the steps done before this run, and the total."""
        ...

    def step(self, done: int, total: int, loss: float) -> None:
        """Report a step."""
        ...

    def report(self, text: str) -> None:
        """Report an event between steps."""
        ...
