"""Contrastive training with several positives (InfoNCE; Oord et al. 2018).

Documents that solved a request are moved nearer to it than all others of the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import UsageError
from retriever.training.checkpoints import Checkpoints
from retriever.training.encoder import TrainedEncoder
from retriever.training.examples import Corpus, Example
from retriever.training.negatives import Negatives
from retriever.training.progress import Progress
from retriever.training.validation import Judge, Judgement, best_of, stalled


@dataclass(frozen=True, slots=True)
class Trained:
    """Result of a training."""

    judgements: tuple[Judgement, ...]
    best: Judgement
    """Judgement of the weights that were kept."""
    steps: int
    left_out: tuple[int, ...]
    """Likely false negatives that were left out, by epoch."""
    stopped: bool
    """True if it ended before its last epoch."""
    seconds: float
    """Time of all calls together, up to the last judgement of each."""


def finetune(
    corpus: Corpus,
    examples: Sequence[Example],
    near: Sequence[list[int]],
    judge: Judge,
    checkpoints: Checkpoints,
    model: Path,
    progress: Progress,
) -> Trained:
    """Train by the recipe of the checkpoints and save the best weights in ``model``.

    A resumed training takes the same steps. ``near``: rows from :func:`retriever.training.negatives.neighbours`.

    Raises:
        UsageError: the checkpoint or the weights to resume from are damaged or missing.
    """
    from retriever.training.course import Course  # imports torch

    recipe, last = checkpoints.recipe, checkpoints.last
    if last is not None and not any(model.glob("*.safetensors")):
        raise UsageError(
            f"{model} with the best weights is gone, and {checkpoints.folder} has the last ones only: "
            f"put {model.name} back, or remove {checkpoints.folder} to begin the training anew"
        )
    standing = checkpoints.read()
    total = recipe.epochs * recipe.steps_of(len(examples))
    progress.begin(standing.step, total)
    if standing.step == total or stalled(standing.judgements, recipe.patience):
        progress.tell(f"the training had ended already, at step {standing.step}")
    else:
        negatives = Negatives(corpus, examples, near, recipe)
        negatives.put_back(standing.negatives)
        with checkpoints.undamaged():
            encoder = TrainedEncoder(recipe, last)
        encoder.freeze(recipe.frozen)
        Course(encoder, corpus, examples, negatives, judge, standing, checkpoints, model, progress).run()
    return Trained(
        tuple(standing.judgements),
        best_of(standing.judgements),
        standing.step,
        tuple(standing.left_out),
        standing.step < total,
        standing.seconds,
    )
