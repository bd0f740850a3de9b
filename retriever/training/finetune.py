"""Fine-tuning of an encoder by contrastive training with several positives (InfoNCE; Oord et al. 2018).

Documents that solved a request are moved nearer to it than all other documents of the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import UsageError
from retriever.training.batches import NegativeSampler
from retriever.training.checkpoints import CheckpointFolder, TrainingProgress
from retriever.training.encoder import TrainedEncoder
from retriever.training.examples import DocumentCorpus, TrainingExample
from retriever.training.validation import HeldOutEvaluator, ValidationScore, has_stalled, select_best


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """Result of a training."""

    judgements: tuple[ValidationScore, ...]
    """All evaluations, in order."""
    best: ValidationScore
    """Evaluation of the weights that were saved."""
    steps: int
    """Steps done, those before an interruption included."""
    left_out: tuple[int, ...]
    """Likely false negatives that were left out, by epoch."""
    stopped: bool
    """True if it ended before its last epoch."""
    seconds: float
    """Time of all calls together, up to the last judgement of each."""


def finetune_encoder(
    corpus: DocumentCorpus,
    examples: Sequence[TrainingExample],
    neighbour_rows: Sequence[list[int]],
    evaluator: HeldOutEvaluator,
    checkpoints: CheckpointFolder,
    model_folder: Path,
    progress: TrainingProgress,
) -> TrainingResult:
    """Train by the recipe of the checkpoints and save the best weights in ``model_folder``.

    An interrupted training resumes at its last checkpoint and takes the same steps.

    Args:
        corpus: the documents.
        examples: the requests to train on.
        neighbour_rows: for each example the rows from :func:`retriever.training.batches.find_neighbours`.
        evaluator: evaluates the encoder on held-out requests.
        checkpoints: folder of the checkpoints, with the recipe.
        model_folder: folder for the best weights.
        progress: receives the progress.

    Raises:
        UsageError: the checkpoint or the weights to resume from are damaged or missing.
    """
    from retriever.training.training_loop import Course  # imports torch

    recipe, last = checkpoints.recipe, checkpoints.latest
    if last is not None and not any(model_folder.glob("*.safetensors")):
        raise UsageError(
            f"{model_folder} with the best weights is gone, and {checkpoints.folder} has the last ones only: "
            f"put {model_folder.name} back, or remove {checkpoints.folder} to begin the training anew"
        )
    training_state = checkpoints.read_state()
    total_steps = recipe.epochs * recipe.count_steps(len(examples))
    progress.begin(training_state.step, total_steps)
    if training_state.step == total_steps or has_stalled(training_state.judgements, recipe.patience):
        progress.report(f"the training had ended already, at step {training_state.step}")
    else:
        negatives = NegativeSampler(corpus, examples, neighbour_rows, recipe)
        negatives.restore(training_state.negatives)
        with checkpoints.translate_read_errors():
            encoder = TrainedEncoder(recipe, last)
        encoder.freeze(recipe.frozen)
        Course(
            encoder, corpus, examples, negatives, evaluator, training_state, checkpoints, model_folder, progress
        ).run()
    return TrainingResult(
        tuple(training_state.judgements),
        select_best(training_state.judgements),
        training_state.step,
        tuple(training_state.left_out),
        training_state.step < total_steps,
        training_state.seconds,
    )
