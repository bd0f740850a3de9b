"""Matching of untrusted regular expressions in linear time by RE2, which does not backtrack."""

from functools import lru_cache
from typing import Any, Protocol, cast

MAX_PATTERN_LENGTH = 1_000
_MAX_MEMORY = 1 << 20


class _CompiledPattern(Protocol):
    def search(self, text: str) -> object | None: ...


def is_supported_pattern(pattern: str) -> bool:
    """Return whether RE2 supports a pattern.

    It supports no look-around and no back references, and refuses patterns that would take too much memory.
    """
    return _compile_pattern(pattern) is not None


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether the pattern matches somewhere in the text; true for an unsupported pattern."""
    compiled = _compile_pattern(pattern)
    return compiled is None or compiled.search(text) is not None


@lru_cache(maxsize=2048)
def _compile_pattern(pattern: str) -> _CompiledPattern | None:
    import re2  # here: most tools have no pattern  # pyright: ignore[reportMissingTypeStubs]

    module = cast(Any, re2)
    if len(pattern) > MAX_PATTERN_LENGTH:
        return None
    options = module.Options()
    options.log_errors, options.max_mem = False, _MAX_MEMORY
    try:
        return cast(_CompiledPattern, module.compile(pattern, options))
    except module.error:
        return None
