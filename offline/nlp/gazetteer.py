"""Words with a fixed meaning in requests: numbers, currencies, languages, countries, units, prepositions."""


def word_set(text: str) -> frozenset[str]:
    """Parse a table of words: a text with blanks between the words."""
    return frozenset(text.split())


def word_sets(text: str) -> tuple[frozenset[str], ...]:
    """Parse several tables of words, separated by semicolons."""
    return tuple(word_set(part) for part in text.split(";"))


NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "thousand": 1000, "million": 1_000_000, "dozen": 12,
}  # fmt: skip
NUMBER_SCALES = frozenset({"hundred", "thousand", "million", "dozen"})
"""Number words that multiply the number before them."""

CURRENCIES = {
    "dollar": "USD", "us dollar": "USD", "usd": "USD", "$": "USD", "euro": "EUR", "eur": "EUR", "€": "EUR", "pound sterling": "GBP",
    "british pound": "GBP", "gbp": "GBP", "£": "GBP", "yen": "JPY", "japanese yen": "JPY", "jpy": "JPY", "¥": "JPY",
    "swiss franc": "CHF", "chf": "CHF", "rupee": "INR", "indian rupee": "INR", "inr": "INR", "₹": "INR", "yuan": "CNY",
    "renminbi": "CNY", "cny": "CNY", "canadian dollar": "CAD", "cad": "CAD", "australian dollar": "AUD", "aud": "AUD",
    "won": "KRW", "krw": "KRW", "peso": "MXN", "mxn": "MXN", "brl": "BRL", "zar": "ZAR", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
    "pln": "PLN", "czk": "CZK", "huf": "HUF", "try": "TRY", "lira": "TRY", "rub": "RUB", "ruble": "RUB", "nzd": "NZD", "sgd": "SGD",
    "hkd": "HKD", "thb": "THB", "baht": "THB", "idr": "IDR", "myr": "MYR", "php": "PHP", "ils": "ILS", "aed": "AED", "sar": "SAR",
    "bitcoin": "BTC", "btc": "BTC", "ethereum": "ETH", "eth": "ETH",
}  # fmt: skip
"""ISO 4217 codes, and codes of cryptocurrencies, by names, codes and signs in lower case."""
CURRENCY_WORDS_NEEDING_CAPITALS = word_set("try cad php won all")
"""Currency codes that are English words as well."""

LANGUAGES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl",
    "russian": "ru", "chinese": "zh", "japanese": "ja", "korean": "ko", "arabic": "ar", "hindi": "hi", "turkish": "tr",
    "polish": "pl", "swedish": "sv", "danish": "da", "norwegian": "no", "finnish": "fi", "greek": "el", "hebrew": "he",
    "czech": "cs", "hungarian": "hu", "ukrainian": "uk", "thai": "th", "vietnamese": "vi", "indonesian": "id", "romanian": "ro",
}  # fmt: skip
"""ISO 639-1 codes by name."""

COUNTRIES = {
    "united states": "US", "usa": "US", "us": "US", "america": "US", "united kingdom": "GB", "uk": "GB", "britain": "GB",
    "england": "GB", "france": "FR", "germany": "DE", "spain": "ES", "italy": "IT", "portugal": "PT", "netherlands": "NL",
    "belgium": "BE", "switzerland": "CH", "austria": "AT", "ireland": "IE", "sweden": "SE", "norway": "NO", "denmark": "DK",
    "finland": "FI", "poland": "PL", "czech republic": "CZ", "hungary": "HU", "greece": "GR", "turkey": "TR", "russia": "RU",
    "ukraine": "UA", "china": "CN", "japan": "JP", "south korea": "KR", "india": "IN", "pakistan": "PK", "indonesia": "ID",
    "thailand": "TH", "vietnam": "VN", "singapore": "SG", "malaysia": "MY", "australia": "AU", "new zealand": "NZ",
    "canada": "CA", "mexico": "MX", "brazil": "BR", "argentina": "AR", "chile": "CL", "colombia": "CO", "egypt": "EG",
    "south africa": "ZA", "nigeria": "NG", "kenya": "KE", "morocco": "MA", "israel": "IL", "saudi arabia": "SA",
}  # fmt: skip
"""ISO 3166-1 codes of two letters by name."""

UNITS = {
    "km": "kilometer", "kilometre": "kilometer", "m": "meter", "metre": "meter", "cm": "centimeter", "centimetre": "centimeter",
    "mm": "millimeter", "mi": "mile", "ft": "foot", "feet": "foot", "in": "inch", "inche": "inch", "yd": "yard", "nm": "nautical_mile",
    "kg": "kilogram", "kilo": "kilogram", "g": "gram", "gramme": "gram", "mg": "milligram", "lb": "pound", "oz": "ounce",
    "c": "celsius", "°c": "celsius", "f": "fahrenheit", "°f": "fahrenheit", "k": "kelvin", "l": "liter", "litre": "liter",
    "ml": "milliliter", "gal": "gallon", "h": "hour", "hr": "hour", "sec": "second", "s": "second",
    "kph": "kilometer_per_hour", "mph": "mile_per_hour",
} | {
    unit: unit
    for unit in (
        "kilometer", "meter", "centimeter", "millimeter", "mile", "foot", "inch", "yard", "kilogram", "gram", "milligram", "pound",
        "ounce", "stone", "ton", "celsius", "fahrenheit", "kelvin", "liter", "milliliter", "gallon", "pint", "cup", "hour", "minute",
        "second", "day", "week", "month", "year", "acre", "hectare", "joule", "calorie", "watt", "byte", "kilobyte", "megabyte", "gigabyte",
    )
}  # fmt: skip
"""Standard names of units by name and abbreviation."""
SHORT_UNITS = frozenset(unit for unit in UNITS if len(unit) <= 2)
"""Abbreviations that count as units only directly after a number."""

FROM_CUES = word_set("from between since starting departing leaving after")
"""Words before the start of a route, a range or a conversion."""
TO_CUES = word_set("to into until till through towards before by many")
"""Words before the end of a route, a range or a conversion."""
PLACE_CUES = word_set("in at near from to around for of between and")
"""Words before a place."""
BOOKED_CUES = tuple((first, "the", "name", "of") for first in ("in", "on", "under"))
"""Phrases before the name under which something is booked."""
NAMING_CUES = word_set("named called titled name title entitled")
"""Words before the name of a thing."""

STARTERS = word_set(
    "a an and are as at be but by can check compare compute convert could did do does explain fetch find for from get give gives "
    "hello help hey hi how i if i'd i'm i've in is it its let list look make may me my need now of on or please provide recommend search "
    "show so some suggest tell than thank thanks that the their them then there these they this to translate use want was we what what's "
    "whats when where which while who who's whose why will with would you your additionally also finally first firstly next lastly "
    "second secondly give calculate generate retrieve display create send add count any all api apis our us lets let's weather"
)
"""Words that are no names though a sentence may begin with them."""
OPENERS = STARTERS | word_set(
    "change exchange summarise summarize describe put enter two three besides going moving travelling traveling flying heading"
)
"""Words that a capital at the start of a sentence does not make names; within a phrase some of them are nouns."""
ORDERS = word_set(
    "book reserve cancel order delete remove register schedule rent hire buy send move mark rename postpone reschedule"
)
"""Verbs that open an order before an article or a pronoun; their capital does not make them names."""
ARTICLES = word_set("the a an my our your his her its their some any all me us this")
