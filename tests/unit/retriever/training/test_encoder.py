"""Requests and their sentences out of one reading. Needs torch."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from pathlib import Path

import numpy as np
import pytest

import retriever.training.encoder as module
from retriever.encoder_folder import EncoderConfig
from retriever.training.encoder import TrainedEncoder, compute_similarities, embed_tokens, resolve_precision
from retriever.training.export import infer_encoder_config
from retriever.training.recipe import TrainingRecipe
from retriever.words import MAX_SENTENCES

pytestmark = [
    pytest.mark.neural,
    pytest.mark.timeout(600),
    # torch and transformers warn of their own inner workings.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]
RAIN, BOOKS = "will it rain in the city tomorrow.", "find books of that author please."


@pytest.fixture
def encoder(base: Path) -> TrainedEncoder:
    return TrainedEncoder(TrainingRecipe(base=str(base), query_tokens=24, precision="float32"))


def test_a_request_of_one_sentence_is_its_own_only_part(encoder: TrainedEncoder) -> None:
    (parts,) = encoder.encode([RAIN], True)
    assert parts.shape == (1 + MAX_SENTENCES, encoder.dimension)
    assert np.allclose(parts, parts[0])
    assert np.allclose(parts[0], encoder.encode([RAIN], False)[0], atol=1e-6)


def test_each_sentence_is_a_part_and_a_missing_one_is_the_first_again(encoder: TrainedEncoder) -> None:
    (parts,) = encoder.encode([f"{RAIN} {BOOKS}"], True)
    assert np.linalg.norm(parts, axis=1) == pytest.approx(np.ones(1 + MAX_SENTENCES), abs=1e-5)
    assert not np.allclose(parts[1], parts[2], atol=1e-3)
    assert np.allclose(parts[3:], parts[1])


def test_a_sentence_beyond_what_is_read_is_no_part(encoder: TrainedEncoder) -> None:
    (parts,) = encoder.encode([f"{'rain ' * 30}. {BOOKS}"], True)
    assert np.allclose(parts[2:], parts[1])


def test_what_stands_beside_it_changes_no_vector(encoder: TrainedEncoder) -> None:
    texts = [RAIN, f"{RAIN} {BOOKS}", "rain"]
    together = encoder.encode(texts, True)
    alone = np.concatenate([encoder.encode([text], True) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)


def test_what_stands_before_a_request_belongs_to_no_sentence(base: Path, encoder: TrainedEncoder) -> None:
    prefixed = TrainedEncoder(
        TrainingRecipe(base=str(base), query_tokens=24, query_prefix="city city ", precision="float32")
    )
    (plain,), (parts,) = encoder.encode([f"{RAIN} {BOOKS}"], True), prefixed.encode([f"{RAIN} {BOOKS}"], True)
    tokens = prefixed.tokenizer(f"city city {RAIN} {BOOKS}", return_offsets_mapping=True)["offset_mapping"]
    first = [place for place, (start, end) in enumerate(tokens) if 10 <= start < end <= 10 + len(RAIN)]
    prefixed.model.eval()
    states = prefixed.model({**prefixed.tokenizer(f"city city {RAIN} {BOOKS}", return_tensors="pt")})[
        "token_embeddings"
    ]
    right = states[0, first].mean(0).detach().numpy()
    assert parts[1] == pytest.approx(right / np.linalg.norm(right), abs=1e-5)
    assert not np.allclose(parts[0], plain[0], atol=1e-3)


@pytest.mark.parametrize("native", [True, False])
def test_what_is_not_chosen_is_what_the_machine_has(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_has_native_bfloat16", lambda _: native)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert resolve_precision(TrainingRecipe()).precision == ("bfloat16" if native else "float32")
    assert resolve_precision(TrainingRecipe(precision="float32")).precision == "float32"


@pytest.mark.parametrize(("pooling", "prefix"), [("mean", ""), ("cls", "city city ")])
def test_sentence_transformers_reads_what_is_saved(base: Path, tmp_path: Path, pooling: str, prefix: str) -> None:
    from sentence_transformers import SentenceTransformer

    ours = TrainedEncoder(
        TrainingRecipe.model_validate({"base": str(base), "pooling": pooling, "query_prefix": prefix})
    )
    ours.save(tmp_path)
    theirs = SentenceTransformer(str(tmp_path), device="cpu")
    assert np.allclose(theirs.encode([RAIN, BOOKS]), ours.encode([RAIN, BOOKS], False), atol=1e-6)
    assert np.allclose(theirs.encode_query([RAIN, BOOKS]), ours.encode([RAIN, BOOKS], True)[:, 0], atol=1e-6)


def test_how_its_vectors_are_made_is_kept_with_it(base: Path, tmp_path: Path) -> None:
    TrainedEncoder(TrainingRecipe(base=str(base), pooling="cls", query_prefix="find: ")).save(tmp_path)
    assert infer_encoder_config(tmp_path) == EncoderConfig(dimension=32, pooling="cls", query_prefix="find: ")


def test_what_it_learnt_to_read_is_read(base: Path, tmp_path: Path) -> None:
    TrainedEncoder(TrainingRecipe(base=str(base), query_tokens=24, document_tokens=300)).save(tmp_path)
    assert infer_encoder_config(tmp_path) == EncoderConfig(dimension=32, query_tokens=128, document_tokens=300)


def test_half_the_whole_and_half_the_best_sentence() -> None:
    requests = np.array([[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]], np.float32)
    documents = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    assert compute_similarities(requests, documents).tolist() == [[pytest.approx(0.8), pytest.approx(0.5)]]


def test_it_is_the_same_for_tensors(encoder: TrainedEncoder) -> None:
    texts = [f"{RAIN} {BOOKS}", RAIN]
    requests, documents = encoder.encode(texts, True), encoder.encode(texts, False)
    encoder.model.eval()
    asked, told = (embed_tokens(encoder.model, encoder.tokenize(texts, requests=one)) for one in (True, False))
    assert np.allclose(
        compute_similarities(asked, told[:, 0]).detach().numpy(), compute_similarities(requests, documents), atol=1e-5
    )
