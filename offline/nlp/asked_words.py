"""Find the words of a request, and what its question words stand for, as names of fields and tools may have them."""

import re
from functools import lru_cache

from graph.identifiers import split_words
from offline.nlp.gazetteer import word_set, word_sets

_STOP_WORDS = word_set(
    "a an the of in on at to for from by with and or is are was were be been do does did can could would will should i me my we you your it its this "
    "that these those what which who whom whose when where why how please tell give show find get list next now right there their his her any some "
    "all into as about than then also much many like used use moment say go people"
)
_NAMES_BY_WORD: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), names)
    for pattern, names in (
        (r"\bhow much\b|\bcosts?\b|\bpriced?\b", "amount result price cost value total"),
        (r"\bconvert|\bexchange\b|\bin (?:euros?|dollars?|pounds?)\b", "amount result converted value rate"),
        (r"\bwhen\b|\bwhat (?:day|date)\b", "date day time year"),
        (r"\bwhat time\b|\btime is it\b", "time datetime"),
        (r"\bwhere\b", "city country place location address"),
        (r"\bwho\b|\bwhom\b", "name author"),
        (r"\bhow many\b", "count number total amount"),
        (r"\bhow old\b|\bborn\b|\bolder\b|\byounger\b|\boldest\b|\byoungest\b", "age birth"),
        (r"\bpeople (?:live|reside)\b|\bpopulous\b|\b(?:bigger|larger|biggest|largest) (?:city|cities|town|country)\b", "population"),
        (r"\bhigher\b|\btaller\b|\bhighest\b|\btallest\b|\bhow high\b|\bhow tall\b", "height elevation altitude"),
        (r"\bcheap|\bexpensive\b", "price cost fare amount rate"),
        (r"\bhumid", "humidity"),
        (r"\bpublish(?:ed|es)\b|\bpublisher\b", "publisher year publication date"),
        (r"\bcall(?:ing)? (?:code|prefix)\b|\bdialling\b|\bdialing\b", "calling code phone"),
        (r"\bmoney\b", "currency"),
        (r"\blong\b(?=.*\b(?:take|last|run)s?\b)", "duration minutes"),
        (r"\bnovel", "book title"),
        (r"\breader", "review rating"),
        (r"\binhabitants?\b|\bresidents?\b|\bpopulated\b", "population"),
        (r"\bhow far\b|\bdistance\b", "distance"),
        (r"\bhow long\b", "duration length"),
        (r"\bhot\b|\bcold\b|\bwarm", "temperature"),
        (r"\brain|\bsnow|\bumbrella\b", "precipitation rain"),
        (r"\bwind", "wind"),
        (r"\bweather\b", "temperature condition description summary precipitation wind"),
        (r"\bforecast\b", "date temperature condition summary precipitation"),
        (r"\bcit(?:ed|ations?)\b", "citation"),
        (r"\bwrote\b|\bwritten\b|\bwriter\b", "author"),
        (r"\bpapers?\b|\bpublications?\b|\barticles?\b", "title publication"),
        (r"\bbooks?\b|\bmovies?\b|\bsongs?\b", "title"),
        (r"\btranslat", "translation translated text"),
        (r"\bopen\b|\bholidays?\b", "holiday name"),
        (r"\be-?mail", "email"),
        (r"\bsp(?:eak|oken)", "language"),
    )
)  # fmt: skip
"""Field names that single words and short phrases may ask for, by pattern."""
_NAMES_BY_PHRASE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), names)
    for pattern, names in (
        (r"\bpeople (?:live|reside|are there)\b|\b(?:bigger|larger|biggest|largest) (?:city|cities|town|country)\b", "population"),
        (r"\bhow (?:high|tall)\b", "height elevation altitude"),
        (r"\bhow (?:far|distant)\b", "distance"),
        (r"\bhow old\b", "age birth founded"),
        (r"\bhow many (?:minutes|hours)\b.*\b(?:takes?|lasts?|runs?)\b", "duration length runtime minutes"),
        (r"\bwhat (?:.* )?means?\b|\bmeaning\b", "meaning definition"),
        (r"\bwhat time\b|\bclock (?:show|say)", "time"),
        (r"\bhow long\b", "duration length runtime minutes"),
        (r"\bcome out\b|\bcame out\b", "release released date year published"),
        (r"\bhow (?:warm|hot|cold)\b", "temperature"),
        (r"\bhow (?:expensive|cheap)\b|\bhow much (?:is|are|does|do) (?:the|an?|one)\b", "price cost"),
        (r"\bwho (?:runs|leads|heads)\b", "ceo executive director chief"),
        (r"\bwhat (?:do|does|did|would|will) (?:they|he|she|it|the \w+) (?:want|ask|charge) for\b", "price cost"),
    )
)  # fmt: skip
"""Field names that several words together stand for, by pattern over lower-case text."""

_RESERVE = re.compile(r"\bbook(?= (?:me|us|a|an|my|our|two|three)\b)")
"""The verb *book*, which must not be taken for the noun."""
_TOKEN = re.compile(r"[^\W\d_]+\d+\.\d+|[^\W_]+")


def find_asked_words(request: str) -> tuple[frozenset[str], frozenset[str]]:
    """Find the words that a field's name may share with a request.

    Returns:
        The words that the request uses, with their synonyms; and, as weaker hints, those that its question words
        ("when", "how many") may ask for.
    """
    strong_words = frozenset(word for group in group_asked_words(request) for word in group)
    weak_words = frozenset(
        name for pattern, names in _NAMES_BY_WORD if pattern.search(request) for name in names.split()
    )
    return strong_words, weak_words - strong_words


def group_asked_words(text: str) -> tuple[frozenset[str], ...]:
    """Return the content words of a text, each as a set with its synonyms."""
    return tuple(group for _, group in pair_asked_words(text))


def pair_asked_words(text: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return the content words of a text as pairs: a word's own forms, and these with what it may stand for."""
    groups: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    text = _RESERVE.sub("reserve", re.sub(r"(?<=\be)-(?=mail)|(?<=\bco)-(?=\w)", "", text.lower()))
    for token in _TOKEN.findall(text):
        if token not in _STOP_WORDS and (len(token) > 1 or token.isdigit()):
            own_words = frozenset((*_split_token(token), *([compact_name(token)] if "." in token else ())))
            meanings = [name for pattern, names in _NAMES_BY_WORD if pattern.search(token) for name in names.split()]
            groups[token] = (
                own_words,
                own_words | {*meanings, *(other for word in own_words for other in find_synonyms(word))},
            )
    for pattern, names in _NAMES_BY_PHRASE:
        if pattern.search(text):
            phrase_meanings = frozenset(names.split())
            groups[pattern.pattern] = phrase_meanings, phrase_meanings
    return tuple(groups.values())


def _split_token(text: str) -> tuple[str, ...]:
    """Split a token into words; *long* stays a word, though as part of a name it means a longitude."""
    return split_words(text) if text != "long" else (text,)


def compact_name(name: str) -> str:
    """Return a name without separators: ``pm2_5`` and ``PM2.5`` give ``pm25``. Empty for names without digits."""
    return re.sub(r"[\W_]", "", name).lower() if re.search(r"\d", name) else ""


def count_matches(name: str, asked_names: frozenset[str]) -> int:
    """Count the words of a field's name that are asked about.

    Longer and shorter forms of a word count, and so do compounds of two words that are asked about.
    """
    compacted = compact_name(name)
    if compacted and compacted in asked_names:
        return 1
    return sum(
        any(_is_same_word(word, other) for other in asked_names) or _is_compound(word, asked_names)
        for word in set(split_words(name))
    )


_ENDING = re.compile(r"(?:er|or|ed|ing)$")
_STEM = 4


def _is_same_word(word: str, other: str) -> bool:
    """Return whether two words are forms of one: equal, a long prefix of each other, or alike without their endings."""
    if word == other or (min(len(word), len(other)) >= 5 and (word.startswith(other) or other.startswith(word))):
        return True
    stem = _ENDING.sub("", word)
    return len(stem) >= _STEM and stem == _ENDING.sub("", other) and stem not in (word, other)


def _is_compound(word: str, asked_names: frozenset[str]) -> bool:
    """Return whether a word is made of two that are asked about: ``weekday`` for "day of the week"."""
    return any(word[:cut] in asked_names and word[cut:] in asked_names for cut in range(3, len(word) - 2))


_GROUPS = word_sets(
    "altitude elevation height; population inhabitant resident populace; price cost fare fee charge rate amount; telephone phone mobile; "
    "prefix calling dialling dialing dial; email mail mailbox; film movie cinema picture; runtime duration running length; show series tv; "
    "song track music tune; singer artist band musician; writer author novelist; book novel title; paper publication article study; "
    "article news story headline; journalist reporter correspondent editor author; scholar researcher scientist professor academic; "
    "doctorate phd doctoral degree thesis education; affiliation organization institution employer university; job vacancy position opening; "
    "salary pay wage earning; company firm business enterprise corporation; ceo executive chief boss director officer; headquarters seat; "
    "founded established foundation exist existed; share stock equity; trading trade quote; dividend payout; money currency cash; worth value amount; "
    "exchange convert conversion; weather forecast climate; temperature warm hot cold heat; rain precipitation rainfall shower; "
    "dust pm2 particle particulate pollution air; humid humidity; windy wind gust; hotel accommodation lodging stay inn; room bedroom; "
    "guest visitor traveller; review opinion comment feedback; score rating star grade mark; flight plane fly airline; airport aerodrome iata; "
    "train rail railway; restaurant eatery tavern diner eating; menu dish food meal course; recipe cook cooking dish meal; "
    "calorie energy kcal nutrition nutritional; serving portion; vegetarian vegan diet; product item article goods; "
    "stock availability available inventory piece quantity; shop store market merchant; order purchase buy; "
    "parcel package shipment delivery tracking; carrier courier; book reserve reservation booking; appointment meeting event; task todo chore; "
    "note memo; message mail text letter; contact address; team club squad side; player footballer athlete; match game fixture; "
    "goal scorer scored; stadium venue ground arena capacity; spectator capacity seat attendance; league competition championship division; "
    "standing table ranking; meaning definition define mean gloss dictionary sense; translate translation; language tongue; holiday festival; "
    "weekday day; timezone zone offset utc; clock time hour; distance far kilometer mile crow; route directions road; "
    "coordinate latitude longitude gps; nearest closest near nearby; place city town location village; region state province; "
    "museum gallery exhibition; ticket admission entry; event concert festival; concert gig show; library loan copy borrow; plant flower tree; "
    "animal species; doctor physician medicine; car vehicle automobile; picture image photo; birthday birth born; "
    "birthplace birth born hometown; lyrics text words; owner holder; abstract summary summarise summarize description; citation cited; publisher press published; "
    "seat sit seating capacity; interest work study specialise; coauthor collaborator collaboration colleague; gender sex male female; biography bio introduction profile; work paper publication; "
    "position role rank job title post; education educational degree study studied graduate graduated; interest research field topic; "
    "page pages; release released premiere; director directed; actor cast starring"
)


@lru_cache(maxsize=4096)
def find_synonyms(word: str) -> frozenset[str]:
    """Return the other words for what a word means; empty for most words."""
    return frozenset(other for group in _GROUPS if word in group for other in group) - {word}
