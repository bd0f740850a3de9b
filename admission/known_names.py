"""Names that look alike: written in other letters, or so that the eye takes one for the other."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from admission.findings import UNNAMED
from domain.tool import ToolDoc, ToolId, tool_id_parts

_LOOKS = {
    "a": "аαɑ@4", "b": "ƅьв8", "c": "сϲⅽ", "d": "ԁⅾ", "e": "еҽє3", "f": "ƒ", "g": "ɡց9", "h": "һн", "i": "іıɩιӏǀlⅼℓ1|!ӏ", "j": "јϳ",
    "k": "кκ", "m": "мⅿ", "n": "ոп", "o": "оοօσ0", "p": "рρ", "q": "ԛ", "r": "гᴦ", "s": "ѕꜱ5$", "t": "тτ", "u": "υսц", "v": "ѵνⅴ",
    "w": "ԝωш", "x": "хχⅹ", "y": "уүγ", "z": "ᴢ2",
}  # fmt: skip
"""Letters and digits, in lower case, with those that look like them."""
_ALIKE = str.maketrans({other: letter for letter, others in _LOOKS.items() for other in others})
_PAIRS = (("rn", "m"), ("vv", "w"), ("ci", "d"))
_SEPARATORS = re.compile(r"[\W_]+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PARTED = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN")
"""Scripts whose letters look like one another's. Others are mixed with Latin for good reasons (Japanese, Korean, Indian)."""


def skeleton(name: str, *, letters: bool = True) -> str:
    """What a name looks like: two of one skeleton are taken for one another. ``letters`` False: but for case and separators."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(one for one in plain if unicodedata.category(one) not in ("Mn", "Cf", "Cc", "Cn", "Co"))
    if not letters:
        return re.sub(r"[ _./-]+", "", name.casefold())
    alike = _SEPARATORS.sub("", seen.translate(_ALIKE))
    for pair, one in _PAIRS:
        alike = alike.replace(pair, one)
    return alike


def mixed_scripts(name: str) -> tuple[str, ...]:
    """The scripts of one word of a name, where they are several that look alike."""
    for word in re.findall(r"[^\W\d_]+", name):
        scripts = {script for one in word for script in _SCRIPTS if unicodedata.name(one, "").startswith(script)}
        if len(scripts) > 1:
            return tuple(sorted(scripts))
    return ()


def _telling(word: str) -> bool:
    """Whether a word is an identifier, rather than one of a language: of parts joined by underscores, or by capitals."""
    return len(word) > 5 and _IDENTIFIER.fullmatch(word) is not None and _PARTED.search(word) is not None


@dataclass(slots=True)
class KnownNames:
    """The tools that there are besides those of one source, by how they are called. ``hidden``: those that are not named."""

    hidden: frozenset[ToolId] = frozenset()

    ids: set[ToolId] = field(default_factory=set[ToolId])
    functions: dict[str, ToolId] = field(default_factory=dict[str, ToolId])
    named: dict[ToolId, str] = field(default_factory=dict[ToolId, str])
    words: dict[str, ToolId] = field(default_factory=dict[str, ToolId])
    apis: dict[str, dict[str, ToolId]] = field(default_factory=dict[str, dict[str, ToolId]])
    """By the look of a tool's own name: a function's ends with the tool set, so that it tells nothing of a tool set that is another."""
    toolsets: dict[str, dict[str, ToolId]] = field(default_factory=dict[str, dict[str, ToolId]])
    """By the look, each spelling with a tool: one that was entered first hides no other."""
    alike: dict[str, ToolId] = field(default_factory=dict[str, ToolId])

    def add(self, tool: ToolId, function: str) -> None:
        """Enter one."""
        _, toolset, api = tool_id_parts(tool)
        self.ids.add(tool)
        self.named[tool] = function
        for word in (api, function):
            if _telling(word):
                self.words.setdefault(word, tool)
        self.functions.setdefault(function, tool)
        self.apis.setdefault(skeleton(api), {}).setdefault(api, tool)
        self.toolsets.setdefault(skeleton(toolset), {}).setdefault(toolset, tool)
        self.alike.setdefault(skeleton(function), tool)

    def function_of(self, tool: ToolId) -> str:
        """Its name in trajectories; empty where it is not known."""
        return self.named.get(tool, "")

    def find_toolset_alike(self, toolset: str) -> ToolId | None:
        """Return a tool whose tool set is spelled otherwise and looks like this one; of several, one that differs in letters."""
        spellings = self.toolsets.get(skeleton(toolset), {})
        plain = skeleton(toolset, letters=False)
        found = sorted((skeleton(one, letters=False) == plain, one) for one in spellings if one != toolset)
        return spellings[found[0][1]] if found else None

    def find_api_alike(self, api: str) -> ToolId | None:
        """Return a tool whose name is this one, or else looks like it; None where all of a name's letters are signs."""
        looks = skeleton(api)
        spellings = self.apis.get(looks, {}) if looks else {}
        return spellings.get(api) or next(iter(spellings.values()), None)

    def told(self, tool: ToolId) -> str:
        """What a tool is called in a finding."""
        return UNNAMED if tool in self.hidden else tool

    def named_in(self, text: str) -> list[ToolId]:
        """The tools that a text names, as only a tool is named: by an identifier of several parts."""
        return list(dict.fromkeys(found for word in _IDENTIFIER.findall(text) if (found := self.words.get(word))))

    @classmethod
    def of(cls, tools: Iterable[ToolDoc]) -> "KnownNames":
        """Of these tools."""
        known = cls()
        for tool in tools:
            known.add(tool.id, tool.function)
        return known
