"""Languages of the countries, and what English words are called in them: made from syllables of each language."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.geography import COUNTRIES

_SYLLABLES = {
    "Veldanian": "ska vel dre ol in tarn bre ik mor lun",
    "Norvan": "kes wol gra fen roth sta lei burg dra en",
    "Calderan": "al mar vi ser ra que lo can tar ose",
    "Tessalian": "lu cen val om bra ser fio ria tor li",
    "Marovian": "zar no bel ov kra sni do mir ve oz",
    "Qanari": "sa fir ja nur wa rah dal ma qas lu",
    "Sundari": "chan dra pal vi sha ka ma in su gar",
    "Jinzhai": "lan he qing shu bai yu don lin hon xi",
    "Kaimanan": "a ra wa te mo na kau ri pu ka",
    "Verdean": "san ta bo en cam po ri bei se ro",
    "Boreal": "el kor pi ne sil var ma ple nor ga",
}
_WORDS = {
    "bakery": ("noun", "a shop where bread is made and sold", "bakehouse bread-shop"),
    "bell": ("noun", "a hollow metal body that rings when struck", "chime gong"),
    "bridge": ("noun", "a way built over a river or a road", "crossing viaduct"),
    "candle": ("noun", "a stick of wax with a wick that is burnt for light", "taper light"),
    "cheerful": ("adjective", "happy, and showing it", "merry jolly"),
    "clock": ("noun", "a device that shows the time of day", "timepiece chronometer"),
    "fog": ("noun", "thick mist close to the ground", "mist haze"),
    "forest": ("noun", "land covered with trees", "wood woodland"),
    "friend": ("noun", "a person one knows and likes", "companion mate"),
    "garden": ("noun", "ground where flowers or vegetables are grown", "yard plot"),
    "goodbye": ("interjection", "said on leaving", "farewell adieu"),
    "harbour": ("noun", "a sheltered place where ships lie", "port haven"),
    "hello": ("interjection", "said on meeting", "greetings welcome"),
    "lantern": ("noun", "a lamp in a case that can be carried", "lamp light"),
    "letter": ("noun", "a written message sent to somebody", "note missive"),
    "market": ("noun", "a place where goods are bought and sold", "bazaar fair"),
    "mountain": ("noun", "land that rises high above all around it", "peak mount"),
    "orchard": ("noun", "ground planted with fruit trees", "grove plantation"),
    "quiet": ("adjective", "making little or no noise", "silent hushed"),
    "rain": ("noun", "water that falls from clouds in drops", "shower drizzle"),
    "river": ("noun", "a large stream that flows to the sea", "stream waterway"),
    "school": ("noun", "a place where children are taught", "academy college"),
    "snow": ("noun", "frozen water that falls in white flakes", "flakes sleet"),
    "swift": ("adjective", "moving with speed", "fast rapid"),
    "thank you": ("interjection", "said when something is received", "thanks cheers"),
    "train": ("noun", "carriages drawn along a railway", "express locomotive"),
    "wanderer": ("noun", "a person who travels without a fixed aim", "rover nomad"),
    "weaver": ("noun", "a person who makes cloth on a loom", "clothmaker webster"),
    "window": ("noun", "an opening in a wall that lets light in", "pane casement"),
    "winter": ("noun", "the coldest season of the year", "wintertime frost"),
}


@dataclass(frozen=True, slots=True)
class Tongue:
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Headword:
    entry_id: str
    word: str
    part_of_speech: str
    definition: str
    synonyms: tuple[str, ...]


@cache
def tongues() -> tuple[Tongue, ...]:
    """All languages, by name; English among them."""
    names = sorted({name for country in COUNTRIES for name in country.languages})
    return tuple(Tongue(name[:3].lower(), name) for name in names)


@cache
def headwords() -> tuple[Headword, ...]:
    """The dictionary, in order."""
    return tuple(
        Headword(f"hw_{chance.identifier(6, 'headword', word)}", word, part, meaning, words(others))
        for word, (part, meaning, others) in _WORDS.items()
    )


def headword(word: str) -> Headword | None:
    """The entry of a word, whatever its case."""
    return next((one for one in headwords() if one.word == word.strip().casefold()), None)


def tongue(code: str) -> Tongue | None:
    """The language of a three-letter code or a name, whatever its case."""
    wanted = code.strip().casefold()
    return next((one for one in tongues() if wanted in (one.code, one.name.casefold())), None)


@cache
def translated(word: str, language: str) -> str:
    """A word of the dictionary in a language; English is left as it is."""
    if language == "English":
        return word
    syllables = words(_SYLLABLES[language])
    count = chance.between(2, 3, "length", language, word)
    return "".join(chance.several(syllables, count, "syllables", language, word))


def spoken_in(text: str) -> tuple[str, float]:
    """The language that most words of a text belong to, and their share; English with 0 where none is known."""
    given = set(text.casefold().replace(",", " ").replace(".", " ").split())
    shares = {
        one.name: len(given & {part for entry in headwords() for part in translated(entry.word, one.name).split()})
        for one in tongues()
    }
    best = max(sorted(shares), key=lambda name: shares[name])
    return (best, round(shares[best] / len(given), 2)) if shares[best] else ("English", 0.0)
