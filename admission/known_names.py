"""Index of tool names, to find names that look alike: in other letters, or with letters easily confused."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from admission.findings import HIDDEN_TOOL
from domain.tool import ToolDoc, ToolId, split_tool_id

_LOOKS = {
    "a": "аαɑ@4", "b": "ƅьв8", "c": "сϲⅽ", "d": "ԁⅾ", "e": "еҽє3", "f": "ƒ", "g": "ɡց9", "h": "һн", "i": "іıɩιӏǀlⅼℓ1|!ӏ", "j": "јϳ",
    "k": "кκ", "m": "мⅿ", "n": "ոп", "o": "оοօσ0", "p": "рρ", "q": "ԛ", "r": "гᴦ", "s": "ѕꜱ5$", "t": "тτ", "u": "υսц", "v": "ѵνⅴ",
    "w": "ԝωш", "x": "хχⅹ", "y": "уүγ", "z": "ᴢ2",
}  # fmt: skip
"""Letters and digits in lower case, with the characters that look like them."""
_LOOKALIKES = str.maketrans({other: letter for letter, others in _LOOKS.items() for other in others})
_LOOKALIKE_PAIRS = (("rn", "m"), ("vv", "w"), ("ci", "d"))
_SEPARATORS = re.compile(r"[\W_]+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_HAS_PARTS = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN")
"""Scripts whose letters look like each other's. Mixing others with Latin is normal (Japanese, Korean, Indian scripts)."""


def build_skeleton(name: str, *, letters: bool = True) -> str:
    """Return what a name looks like; two names with one skeleton can be confused.

    With ``letters`` false, letters count as they are, and only case and separators are ignored.
    """
    normalized = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    visible = "".join(
        letter for letter in normalized if unicodedata.category(letter) not in ("Mn", "Cf", "Cc", "Cn", "Co")
    )
    if not letters:
        return re.sub(r"[ _./-]+", "", name.casefold())
    skeleton = _SEPARATORS.sub("", visible.translate(_LOOKALIKES))
    for pair, letter in _LOOKALIKE_PAIRS:  # pairs of letters that look like one
        skeleton = skeleton.replace(pair, letter)
    return skeleton


def find_mixed_scripts(name: str) -> tuple[str, ...]:
    """Return the scripts mixed in one word of a name, if their letters look alike."""
    for word in re.findall(r"[^\W\d_]+", name):
        scripts = {script for letter in word for script in _SCRIPTS if unicodedata.name(letter, "").startswith(script)}
        if len(scripts) > 1:
            return tuple(sorted(scripts))
    return ()


def _is_identifier(word: str) -> bool:
    """Return whether a word is an identifier rather than an ordinary word: parts joined by underscores or capitals."""
    return len(word) > 5 and _IDENTIFIER.fullmatch(word) is not None and _HAS_PARTS.search(word) is not None


@dataclass(slots=True)
class KnownNames:
    """Index of the names of tools."""

    hidden: frozenset[ToolId] = frozenset()
    """Tools whose names are not shown."""

    ids: set[ToolId] = field(default_factory=set[ToolId])
    """Ids of all tools."""
    functions: dict[str, ToolId] = field(default_factory=dict[str, ToolId])
    """Tools by function name; of several, the first."""
    function_names: dict[ToolId, str] = field(default_factory=dict[ToolId, str])
    """Function names by tool."""
    words: dict[str, ToolId] = field(default_factory=dict[str, ToolId])
    """Tools by identifiers that can only mean a tool."""
    apis: dict[str, dict[str, ToolId]] = field(default_factory=dict[str, dict[str, ToolId]])
    """Tools by the look of their own name, then by its spelling.

    Function names end with the tool set's name, so they do not show that tools of two tool sets have one name.
    """
    toolsets: dict[str, dict[str, ToolId]] = field(default_factory=dict[str, dict[str, ToolId]])
    """A tool for each spelling of a tool set's name, by its look, so that one spelling hides no other."""
    functions_by_look: dict[str, ToolId] = field(default_factory=dict[str, ToolId])
    """Tools by the look of their function names."""

    def add(self, tool: ToolId, function: str) -> None:
        """Add a tool."""
        _, toolset, api = split_tool_id(tool)
        self.ids.add(tool)
        self.function_names[tool] = function
        for word in (api, function):
            if _is_identifier(word):
                self.words.setdefault(word, tool)
        self.functions.setdefault(function, tool)
        self.apis.setdefault(build_skeleton(api), {}).setdefault(api, tool)
        self.toolsets.setdefault(build_skeleton(toolset), {}).setdefault(toolset, tool)
        self.functions_by_look.setdefault(build_skeleton(function), tool)

    def get_function(self, tool: ToolId) -> str:
        """Return the function name of a tool; empty if it is unknown."""
        return self.function_names.get(tool, "")

    def find_toolset_alike(self, toolset: str) -> ToolId | None:
        """Return a tool whose tool set is spelled differently but looks like this one.

        Of several, one that differs in letters, not only in case and separators, is preferred.
        """
        spellings = self.toolsets.get(build_skeleton(toolset), {})
        plain_skeleton = build_skeleton(toolset, letters=False)
        ranked = sorted(
            (build_skeleton(spelling, letters=False) == plain_skeleton, spelling)
            for spelling in spellings
            if spelling != toolset
        )
        return spellings[ranked[0][1]] if ranked else None

    def find_api_alike(self, api: str) -> ToolId | None:
        """Return a tool with this name, or else one that looks like it; None for a name made of signs only."""
        looks = build_skeleton(api)
        spellings = self.apis.get(looks, {}) if looks else {}
        return spellings.get(api) or next(iter(spellings.values()), None)

    def get_display_name(self, tool: ToolId) -> str:
        """Return the name of a tool in findings."""
        return HIDDEN_TOOL if tool in self.hidden else tool

    def find_named(self, text: str) -> list[ToolId]:
        """Return the tools that a text names by an identifier that can only mean a tool."""
        return list(dict.fromkeys(tool for word in _IDENTIFIER.findall(text) if (tool := self.words.get(word))))

    @classmethod
    def from_tools(cls, tools: Iterable[ToolDoc]) -> "KnownNames":
        """Build the index of some tools."""
        index = cls()
        for tool in tools:
            index.add(tool.id, tool.function)
        return index
