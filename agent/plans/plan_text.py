"""Invisible and misleading characters in a text that people read before they approve it.

A text must read as it runs.
"""

import re
from collections.abc import Iterator

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Control characters, characters without width, bidirectional marks and tags.

Joiners are not among them: many scripts write with them.
"""
_MOST = 20


def unseen_signs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first such characters: line and column, from 1, and advice."""
    lines = re.split("\r\n|\r|\n", text)
    found = ((number, hit) for number, line in enumerate(lines, start=1) for hit in _UNSEEN.finditer(line))
    for _, (line, hit) in zip(range(_MOST), found, strict=False):
        code = ord(hit[0])
        escape = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
        yield (
            line,
            hit.start() + 1,
            f"A sign that is not seen, or that turns what is read (U+{code:04X}): write it as {escape} in a text, or take it out.",
        )
