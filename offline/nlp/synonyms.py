"""Words for the same thing, as people ask for it and as services call it: plain English, singular, lower case."""

from functools import lru_cache

from offline.nlp.gazetteer import word_sets

_GROUPS = word_sets(
    "altitude elevation height; population inhabitant resident populace; price cost fare fee charge rate amount; telephone phone mobile; "
    "prefix calling dialling dialing dial; email mail mailbox; film movie cinema picture; runtime duration running length; show series tv; "
    "song track music tune; singer artist band musician; writer author novelist; book novel title; paper publication article study; "
    "article news story headline; journalist reporter correspondent editor author; scholar researcher scientist professor academic; "
    "doctorate phd doctoral degree thesis education; affiliation organization institution employer university; job vacancy position opening; "
    "salary pay wage earning; company firm business enterprise corporation; ceo executive chief boss director officer; headquarters seat; "
    "founded established foundation; share stock equity; trading trade quote; dividend payout; money currency cash; worth value amount; "
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
    "birthplace birth born hometown; lyrics text words; owner holder; abstract summary description; citation cited; publisher press published; "
    "page pages; release released premiere; director directed; actor cast starring"
)


@lru_cache(maxsize=4096)
def synonyms(word: str) -> frozenset[str]:
    """Other words for what a word means; empty for most."""
    return frozenset(other for group in _GROUPS if word in group for other in group) - {word}
