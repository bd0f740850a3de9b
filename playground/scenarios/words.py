"""Words in other languages and in the newspaper, whose articles are very long."""

from collections.abc import Iterator

from playground.scenarios.choice import Entries, some_articles, some_companies, some_countries, told
from playground.scenarios.steps import article, place
from playground.session import Scenario, Session
from playground.worlds import chance
from playground.worlds.tongues import headwords, tongues, translated

_TRANSLATE = (
    'How do you say "{word}" in {language}?',
    'Translate "{word}" into {language}.',
    'What is the {language} word for "{word}"?',
)
_LOCAL_WORD = (
    'How do I say "{word}" in the language of {country}?',
    'I travel to {country}. What is "{word}" in the language they speak there?',
)
_DEFINE = ('What does the word "{word}" mean?', 'Define "{word}".', 'Look up "{word}" in a dictionary.')
_GLOSS = ('Dictionary entry for "{word}", please.', 'Give me the gloss of the headword "{word}".')
_SYNONYMS = ('Which synonyms does "{word}" have?', 'Another word for "{word}"?', 'Find words that mean "{word}".')
_DETECT = ('Which language is "{text}"?', 'Detect the language of the text "{text}".')
_SAY_BACK = ('In which language is "{text}" written, and how do you say "thank you" in it?',)
_NO_PHRASE = ('How do you say "{word}" in {language}?',)
_ARTICLE = (
    'Which city is the article "{headline}" about?',
    'How long does it take to read the article "{headline}"?',
    'When did the newspaper print "{headline}", and in which section?',
)
_WRITER = (
    'Who wrote the newspaper article "{headline}"?',
    'Where is the office of the journalist who wrote "{headline}"?',
    'How many articles has the author of "{headline}" written?',
)
_SCENE = ('What is the weather in the city that the article "{headline}" is about?',)
_LATEST = ("What are the latest {count} headlines in the {section} section?", "Latest {section} news, {count} of them.")
_COMPANY = ("What has the newspaper written about {company}?", "Any news of {company}?")
_NO_NEWS = ('Which city is the article "{headline}" about?',)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_TRANSLATE, _translate, _pairs(10))
    lands = [
        {"word": word, "country": one.name}
        for word, one in zip(_words(6, "land"), some_countries(6, "land"), strict=True)
    ]
    yield from told(_LOCAL_WORD, _local_word, lands)
    yield from told(_DEFINE, _define, [{"word": word} for word in _words(8, "define")])
    yield from told(_GLOSS, _gloss, [{"word": word} for word in _words(4, "gloss")])
    yield from told(_SYNONYMS, _synonyms, [{"word": word} for word in _words(9, "synonyms")])
    yield from told(_DETECT, _detect, _texts(7, "detect"))
    yield from told(_SAY_BACK, _say_back, _texts(4, "back"))
    yield from told(_NO_PHRASE, _no_phrase, [{"word": "spaceship", "language": "Norvan"}])
    yield from told(_ARTICLE, _article, _headlines(9, "article"))
    yield from told(_WRITER, _writer, _headlines(8, "writer"))
    yield from told(_SCENE, _scene, _headlines(4, "scene"))
    sections = ("business", "culture", "science", "travel")
    yield from told(_LATEST, _latest, [{"section": one, "count": 2 + at} for at, one in enumerate(sections)])
    yield from told(_COMPANY, _company, [{"company": one.name} for one in some_companies(6, "news")])
    yield from told(_NO_NEWS, _no_news, [{"headline": "Moon made of cheese"}])


def _words(count: int, *keys: object) -> list[str]:
    return [entry.word for entry in chance.several(headwords(), count, "words", *keys)]


def _pairs(count: int) -> Entries:
    kept = {"Calderan", "Sundari", "Verdean", "Boreal", "English"}  # the languages of kept countries
    names = [one.name for one in tongues() if one.name not in kept]
    return [{"word": word, "language": names[at % len(names)]} for at, word in enumerate(_words(count, "pairs"))]


def _texts(count: int, key: str) -> Entries:
    return [{"text": translated(str(one["word"]), str(one["language"]))} for one in _pairs(12)[:: 1 + (key == "back")]][
        :count
    ]


def _headlines(count: int, key: str) -> Entries:
    return [{"headline": one.headline} for one in some_articles(count, key)]


def _translate(session: Session, word: str, language: str) -> None:
    known = session.call("list_languages")
    code = next(one["language_code"] for one in known if one["language_name"] == language)
    found = session.call("translate_phrase", phrase=word, language_code=code)
    session.answer(f"{word} is {found['translated_text']} in {language}.")


def _local_word(session: Session, word: str, country: str) -> None:
    spoken = session.call("find_country", name=country)["languages"][0]
    known = session.call("list_languages")
    code = next(one["language_code"] for one in known if one["language_name"] == spoken)
    found = session.call("translate_phrase", phrase=word, language_code=code)
    session.answer(f"{word} is {found['translated_text']} in {spoken}, which is spoken in {country}.")


def _define(session: Session, word: str) -> None:
    found = session.call("define_word", word=word)
    session.answer(f"{word} ({found['part_of_speech']}): {found['definition']}.")


def _gloss(session: Session, word: str) -> None:
    session.answer(f"{word}: {session.call('lookup_headword', lemma=word)['gloss']}.")


def _synonyms(session: Session, word: str) -> None:
    entry = session.call("lookup_headword", lemma=word)
    found = session.call("get_synonyms", entry_id=entry["entry_id"])
    session.answer(f"{word}: {', '.join(found['synonyms'])}.")


def _detect(session: Session, text: str) -> None:
    found = session.call("detect_language", text=text)
    session.answer(f"It is {found['language_name']} (confidence {found['confidence']}).")


def _say_back(session: Session, text: str) -> None:
    found = session.call("detect_language", text=text)
    thanks = session.call("translate_phrase", phrase="thank you", language_code=found["language_code"])
    session.answer(f"It is {found['language_name']}; thank you is {thanks['translated_text']}.")


def _no_phrase(session: Session, word: str, language: str) -> None:
    known = session.call("list_languages")
    code = next(one["language_code"] for one in known if one["language_name"] == language)
    session.fails("translate_phrase", phrase=word, language_code=code)
    session.give_up()


def _article(session: Session, headline: str) -> None:
    found = article(session, headline)
    session.answer(
        f"'{headline}' ({found['section']}, {found['published_on']}) is about {found['dateline_city']} and takes "
        f"{found['reading_minutes']} minutes."
    )


def _writer(session: Session, headline: str) -> None:
    found = session.call("get_journalist", journalist_id=article(session, headline)["journalist_id"])
    session.answer(
        f"{found['journalist_name']}, office in {found['office_city']}, {found['article_count']} articles on "
        f"{found['beat']}."
    )


def _scene(session: Session, headline: str) -> None:
    there = place(session, article(session, headline)["dateline_city"])
    now = session.call("get_current_weather", latitude=there["latitude"], longitude=there["longitude"])
    session.answer(f"In {there['city']} it is {now['temperature']} °C with {now['condition']}.")


def _latest(session: Session, section: str, count: int) -> None:
    found = session.call("get_headlines", section=section, count=count)
    session.answer("; ".join(f"{one['headline']} ({one['published_on']})" for one in found) + ".")


def _company(session: Session, company: str) -> None:
    found = session.call("search_news", q=company, section="business")
    if found:
        session.answer("; ".join(f"{one['headline']} ({one['published_on']})" for one in found) + ".")
    else:
        session.give_up()


def _no_news(session: Session, headline: str) -> None:
    session.call("search_news", q=headline)
    session.give_up()
