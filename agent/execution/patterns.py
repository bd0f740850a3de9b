"""Regular expressions that strangers wrote, matched in time linear in the text: by RE2, which cannot backtrack."""

from functools import lru_cache
from typing import Any, Protocol, cast

MAX_PATTERN = 1_000
_MAX_MEMORY = 1 << 20


class _Compiled(Protocol):
    def search(self, text: str) -> object | None: ...


def known(pattern: str) -> bool:
    """Whether a pattern can be matched: RE2 has no look-around and no back references, and refuses what would grow too large."""
    return _compiled(pattern) is not None


def found(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; true for one that is not known."""
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text) is not None


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> _Compiled | None:
    import re2  # here: most tools have no pattern  # pyright: ignore[reportMissingTypeStubs]

    module = cast(Any, re2)
    if len(pattern) > MAX_PATTERN:
        return None
    options = module.Options()
    options.log_errors, options.max_mem = False, _MAX_MEMORY
    try:
        return cast(_Compiled, module.compile(pattern, options))
    except module.error:
        return None
