"""What the local model server answers under ``/v1/embeddings``: texts with like words get like vectors. No model at all."""

import json
import re
from hashlib import blake2b

from tests.models.openai_replies import ChatRequest, Reply, Respond, Sends

DIMENSION = 64


def word_vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Counts of hashed words, and one for all texts; not of unit length."""
    vector = [0.0] * dimension
    vector[0] = 0.5
    for word in re.findall(r"\w+", text.lower()):
        vector[1 + int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % (dimension - 1)] += 3.0
    return vector


def embedding_body(vectors: list[list[float]]) -> Sends:
    """An answer of OpenAI's embedding protocol; entries come last first, which the protocol allows."""
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Sends(json.dumps({"object": "list", "data": data[::-1], "model": "words", "usage": usage}).encode())


def word_embeddings(request: ChatRequest) -> Reply:
    """The vectors of the texts of a request, as long as it asks for."""
    texts: list[str] = request.body["input"]
    return embedding_body([word_vector(text, request.body.get("dimensions", DIMENSION)) for text in texts])


def first(*replies: Reply) -> Respond:
    """These replies in order, then vectors."""
    left = list(replies)
    return lambda request: left.pop(0) if left else word_embeddings(request)
