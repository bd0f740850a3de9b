"""Contrastive training with several positives (InfoNCE; Oord et al. 2018): what solved a request nearer to it than all else in the step."""

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
    """``best``: the judgement whose weights are kept. ``left_out``: likely false negatives, by epoch. ``stopped``: before its last epoch.
    ``seconds``: of all calls together, up to the last judgement of each.
    """

    judgements: tuple[Judgement, ...]
    best: Judgement
    steps: int
    left_out: tuple[int, ...]
    stopped: bool
    seconds: float


def finetune(
    corpus: Corpus,
    examples: Sequence[Example],
    near: Sequence[list[int]],
    judge: Judge,
    checkpoints: Checkpoints,
    model: Path,
    progress: Progress,
) -> Trained:
    """Train by the recipe of the checkpoints, and leave the best weights in ``model``. Interrupted, it goes on with the same steps.

    ``near``: as :func:`retriever.training.negatives.neighbours` gives them. ``UsageError``: what it would go on with is damaged or gone.
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
