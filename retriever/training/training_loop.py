# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false
# pyright: reportUnknownParameterType=false
"""Training loop around sentence-transformers' trainer, with our batches, loss, evaluation and negative mining.

This module imports torch, because its classes derive from the trainer's.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
from transformers import PrinterCallback, TrainerCallback
from transformers.trainer_callback import ExportableState

from retriever.training.batches import IGNORED, POSITIVE, BatchCollator, NegativeSampler
from retriever.training.checkpoints import CheckpointFolder, TrainingProgress, TrainingState
from retriever.training.encoder import TrainedEncoder, compute_similarities, embed_tokens, resolve_precision
from retriever.training.examples import DocumentCorpus, TrainingExample
from retriever.training.recipe import TrainingRecipe
from retriever.training.validation import HeldOutEvaluator, ValidationScore, has_stalled, select_best


class MultiPositiveLoss(torch.nn.Module):
    """InfoNCE loss with several positives, on batches of :class:`BatchCollator`.

    Similarities are multiplied by ``scale``, an inverse temperature.
    """

    def __init__(self, model: Any, scale: float) -> None:
        super().__init__()
        self.model = model
        self._scale = scale

    def forward(self, token_batches: Sequence[Mapping[str, Any]], label: Any) -> Any:
        requests, documents = (embed_tokens(self.model, batch) for batch in token_batches)
        return compute_contrastive_loss(self._scale * compute_similarities(requests, documents[:, 0]), label)


def compute_contrastive_loss(scores: Any, label: Any) -> Any:
    """Return the mean cross-entropy of each positive against the negatives of its request.

    Other positives of the request do not count against it. With one positive for each request this equals
    MultipleNegativesRankingLoss of sentence-transformers.

    Args:
        scores: scaled similarities, shape (requests, documents).
        label: labels of the same shape, as :class:`BatchCollator` gives them.
    """
    is_positive = label == POSITIVE
    negatives = scores.masked_fill(is_positive | (label == IGNORED), -torch.inf).logsumexp(1, keepdim=True)
    # -log(exp(s) / (exp(s) + sum of exp over negatives)) = logaddexp(s, logsumexp(negatives)) - s
    return (torch.logaddexp(scores, negatives) - scores)[is_positive].mean()


class _RetrieverTrainer(SentenceTransformerTrainer):
    """Trainer that writes no model card."""

    def add_model_card_callback(self, *_: object) -> None:
        """Do nothing: a card would contain requests, which may be private."""


class _NdcgEvaluator(SentenceEvaluator):
    """NDCG of the held-out requests, in the form that the trainer calls."""

    def __init__(self, evaluator: HeldOutEvaluator, encoder: TrainedEncoder) -> None:
        super().__init__()
        self._evaluator = evaluator
        self._encoder = encoder

    def __call__(self, *_: object, **__: object) -> dict[str, float]:
        return {"ndcg": self._evaluator.evaluate(self._encoder)}


class Course(TrainerCallback, ExportableState):
    """One training, which is also a callback of the trainer.

    As a callback it decides when to evaluate, save and stop, mines negatives before every epoch but the first,
    and updates
    ``training_state``. Checkpoints store that state under the name of this class, so the name must not change.
    """

    def __init__(
        self,
        encoder: TrainedEncoder,
        corpus: DocumentCorpus,
        examples: Sequence[TrainingExample],
        negatives: NegativeSampler,
        evaluator: HeldOutEvaluator,
        training_state: TrainingState,
        checkpoints: CheckpointFolder,
        model_folder: Path,
        progress: TrainingProgress,
    ) -> None:
        recipe = checkpoints.recipe
        self._encoder = encoder
        self._negatives = negatives
        self._batches = BatchCollator(encoder, corpus, examples, negatives, recipe)
        self._training_state = training_state
        self._checkpoints = checkpoints
        self._recipe = recipe
        self._model_folder = model_folder
        self._progress = progress
        self._steps_per_epoch = recipe.count_steps(len(examples))
        self._losses: list[float] = []
        self._has_stepped = False
        self._started_at = time.perf_counter()
        self._trainer: Any = _RetrieverTrainer(
            model=encoder.model,
            args=_build_arguments(
                recipe,
                checkpoints.folder,
                recipe.epochs * self._steps_per_epoch,
                evaluates_first=not training_state.judgements,
            ),
            train_dataset=Dataset.from_dict({"place": list(range(len(examples)))}),
            data_collator=self._batches,
            loss=MultiPositiveLoss(encoder.model, recipe.scale),
            evaluator=_NdcgEvaluator(evaluator, encoder),
            callbacks=[self],
        )
        self._trainer.remove_callback(PrinterCallback)

    def run(self) -> None:
        """Train to the end, from the last checkpoint on if there is one.

        Raises:
            UsageError: the last checkpoint is damaged.
            UnavailableError: it cannot be read now.
        """
        last = self._checkpoints.latest
        try:
            self._trainer.train(resume_from_checkpoint=str(last) if last else None)
        except Exception as error:
            if self._has_stepped:  # after the first step no error is one of reading a checkpoint
                raise
            with self._checkpoints.translate_read_errors():
                raise error

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint stores of this callback; its form is that of transformers' ``ExportableState``."""
        return {"args": {}, "attributes": asdict(self._training_state)}

    def on_epoch_begin(self, _args: Any, state: Any, _control: Any, **_: object) -> None:
        training_state, epoch = self._training_state, state.global_step // self._steps_per_epoch
        self._batches.epoch = epoch
        # A training that resumes within an epoch has its negatives from the checkpoint.
        if training_state.mined < epoch:
            self._progress.report(f"epoch {epoch + 1}: mining negatives")
            training_state.left_out.append(self._negatives.mine(self._encoder.encode))
            training_state.mined, training_state.negatives = epoch, self._negatives.state

    def on_step_begin(self, *_: object, **__: object) -> None:
        self._has_stepped = True

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: object) -> None:
        every = max(1, self._steps_per_epoch // self._recipe.judged)
        due = state.global_step % every == 0 or state.global_step == state.max_steps
        control.should_evaluate = control.should_save = due

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Mapping[str, float], **_: object) -> None:
        if "loss" in logs:
            self._losses.append(logs["loss"])
            self._progress.step(state.global_step, state.max_steps, logs["loss"])

    def on_evaluate(self, _args: Any, state: Any, control: Any, metrics: Mapping[str, float], **_: object) -> None:
        training_state, losses = self._training_state, self._losses
        loss = sum(losses) / len(losses) if losses else 0.0
        validation_score = ValidationScore(state.global_step, metrics["eval_ndcg"], loss)
        training_state.judgements.append(validation_score)
        self._losses = []
        if select_best(training_state.judgements) is validation_score:
            self._encoder.save(self._model_folder)
        if losses:
            self._progress.report(
                f"step {validation_score.step}: NDCG@5 {validation_score.ndcg:.4f}, loss {validation_score.loss:.3f}"
            )
        if has_stalled(training_state.judgements, self._recipe.patience):
            control.should_training_stop = True
        now = time.perf_counter()
        training_state.seconds, self._started_at = training_state.seconds + now - self._started_at, now

    def on_save(self, *_: object, **__: object) -> None:
        self._checkpoints.write_metadata()


def _build_arguments(recipe: TrainingRecipe, folder: Path, steps: int, *, evaluates_first: bool) -> Any:
    """Return the recipe as arguments of the trainer; :class:`Course` decides when it evaluates and saves."""
    return SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch,
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        warmup_steps=max(1, round(recipe.warm_up * steps)),
        lr_scheduler_type="linear",
        max_grad_norm=1.0,
        bf16=resolve_precision(recipe).precision == "bfloat16",
        use_cpu=not torch.cuda.is_available(),
        seed=recipe.seed,
        eval_on_start=evaluates_first,
        eval_strategy="no",
        save_strategy="no",
        save_total_limit=1,
        logging_steps=1,
        disable_tqdm=True,
        report_to="none",
        dataloader_pin_memory=False,
    )
