# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.small_catalogue import ASKED, catalogue


@pytest.fixture(scope="module")
def one_thread() -> Generator[None]:
    """Tensors so small are not worth sharing out: on a busy machine, threads wait for each other far longer than they work."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> Path:
    """A BERT of two layers that knows nothing, with the words of the catalogue."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("base")
    texts = " ".join([*catalogue().texts, *(request for requests in ASKED.values() for request in requests)]).lower()
    words = sorted({"".join(filter(str.isalnum, word)) for word in texts.split()} - {""})
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(1)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(words) + 5, **small)).save_pretrained(folder)
    return folder
