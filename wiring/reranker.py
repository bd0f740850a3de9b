"""The re-ranker of the settings, where it knows the encoder in use."""

from typing import TYPE_CHECKING

from domain.errors import UsageError
from wiring.settings import Settings

if TYPE_CHECKING:
    from retriever.reranker import Reranker


def reranker_for(settings: Settings, encoder: str) -> "Reranker | None":
    """None where none is wanted, or the bundled one learnt with another encoder: it knows the cosines of its own alone.

    Raises:
        UsageError: the settings name one that learnt with another. UnavailableError: it cannot be read.
    """
    from retriever.reranker import BUNDLED, read_reranker

    if not settings.rerank:
        return None
    named = settings.reranker_file
    found = read_reranker(named or BUNDLED)
    if found.encoder == encoder:
        return found
    if named:
        raise UsageError(
            f"{named} was learnt with {found.encoder}, and the encoder in use is {encoder}: "
            "teach one for it with scripts/train_reranker.py, or leave FOOTPATH_RERANKER_FILE empty"
        )
    return None
