# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Contrastive training with several positives (InfoNCE; Oord et al. 2018): what solved a request nearer to it than all else in the step."""

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain.errors import UsageError
from retriever.training.checkpoints import Checkpoints
from retriever.training.encoder import TrainedEncoder, similarities
from retriever.training.examples import Corpus, Example
from retriever.training.negatives import Negatives
from retriever.training.progress import Progress
from retriever.training.recipe import Recipe
from retriever.training.validation import Judge, Judgement


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
    import torch

    recipe, began = checkpoints.recipe, time.perf_counter()
    if checkpoints.weights is not None and not any(model.glob("*.safetensors")):
        raise UsageError(
            f"{model} with the best weights is gone, and {checkpoints.folder} has the last ones only: "
            f"put {model.name} back, or remove {checkpoints.folder} to begin the training anew"
        )
    encoder = checkpoints.encoder()
    encoder.freeze(recipe.frozen)
    negatives = Negatives(corpus, examples, near, recipe)
    parameters = [one for one in encoder.model.parameters() if one.requires_grad]
    optimizer: Any = torch.optim.AdamW(parameters, lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    per_epoch = math.ceil(len(examples) / recipe.batch)
    total, judged_every = recipe.epochs * per_epoch, max(1, per_epoch // recipe.judged)

    def rate(step: int) -> float:
        return _rate(step, total, recipe.warm_up)

    schedule: Any = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    state = checkpoints.read(optimizer, schedule)
    negatives.put_back(state.negatives)
    if not state.judgements:
        state.judgements.append(Judgement(0, judge.ndcg(encoder), 0.0))
        encoder.save(model)
    progress.begin(state.step, total)
    if state.step == total or _stalled(state.judgements, recipe.patience):
        progress.tell(f"the training had ended already, at step {state.step}")
    losses: list[float] = []
    encoder.model.train()
    while state.step < total and not _stalled(state.judgements, recipe.patience):
        epoch, at = divmod(state.step, per_epoch)
        if state.mined < epoch:
            progress.tell(f"epoch {epoch + 1}: mining negatives")
            state.left_out.append(negatives.mine(encoder.encode))
            state.mined, state.negatives = epoch, negatives.state
        torch.manual_seed(recipe.seed + state.step)
        places = _order(len(examples), recipe.seed + epoch)[at * recipe.batch : (at + 1) * recipe.batch]
        chance = random.Random(f"{recipe.seed} {state.step}")
        loss = _loss(
            encoder, corpus, [examples[place] for place in places], _drawn(negatives, places, chance), recipe, chance
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        state.step += 1
        losses.append(loss.item())
        progress.step(state.step, total, losses[-1])
        if state.step % judged_every == 0 or state.step == total:
            best = max(one.ndcg for one in state.judgements)
            state.judgements.append(Judgement(state.step, judge.ndcg(encoder), sum(losses) / len(losses)))
            losses = []
            if state.judgements[-1].ndcg > best:
                encoder.save(model)
            progress.tell(
                f"step {state.step}: NDCG@5 {state.judgements[-1].ndcg:.4f}, loss {state.judgements[-1].loss:.3f}"
            )
            state.seconds, began = state.seconds + time.perf_counter() - began, time.perf_counter()
            checkpoints.write(state, encoder, optimizer, schedule)
    best = max(state.judgements, key=lambda one: one.ndcg)
    stopped = state.step < total
    return Trained(tuple(state.judgements), best, state.step, tuple(state.left_out), stopped, state.seconds)


def _loss(
    encoder: TrainedEncoder,
    corpus: Corpus,
    examples: Sequence[Example],
    hard: Sequence[list[int]],
    recipe: Recipe,
    chance: random.Random,
) -> Any:
    """The mean over requests and their positives of the cross-entropy among all documents of the step; other positives do not count against one."""
    import torch

    chosen = [chance.sample(one.solved, min(recipe.positives, len(one.solved))) for one in examples]
    rows = list(dict.fromkeys(row for group in (*chosen, *hard) for row in group))
    column = {row: number for number, row in enumerate(rows)}
    requests = encoder.vectors([one.request for one in examples], requests=True)
    documents = encoder.vectors([corpus.texts[row] for row in rows], requests=False)
    scores = recipe.scale * similarities(requests, documents)
    names = [corpus.names[row] for row in rows]
    terms: list[Any] = []
    for number, (example, positives) in enumerate(zip(examples, chosen, strict=True)):
        solved = {corpus.names[row] for row in example.solved}
        also = torch.tensor([name in solved for name in names], device=scores.device)
        against = torch.logsumexp(scores[number].masked_fill(also, -torch.inf), 0)
        for row in positives:
            mine = scores[number, column[row]]
            terms.append(torch.logaddexp(mine, against) - mine)
    return torch.stack(terms).mean()


def _drawn(negatives: Negatives, places: Sequence[int], chance: random.Random) -> list[list[int]]:
    return [negatives.draw(place, chance) for place in places]


def _order(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def _rate(step: int, total: int, warm_up: float) -> float:
    """The share of the learning rate: up in a line, then down in a line to 0."""
    rising = max(1, round(warm_up * total))
    return (step + 1) / rising if step < rising else max(0.0, (total - step) / max(1, total - rising))


def _stalled(judgements: Sequence[Judgement], patience: int) -> bool:
    """Whether the best judgement lies ``patience`` judgements back."""
    best = max(range(len(judgements)), key=lambda place: judgements[place].ndcg)
    return len(judgements) - 1 - best >= patience
