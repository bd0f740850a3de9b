"""What a scripted model writes for the requests of the browser tests: programs over the playground's tools, one after the other for each request."""

from tests.models.openai_replies import ChatRequest, Says

HOSTILE = "<img src=x onerror=alert(1)> **loud** [here](http://evil.example) :red[red] \u202egnp.exe"
WARMEST = "Which of Oskvik, Brennick and Kesterburg is the warmest at the moment?"
HOLIDAY = "Which public holiday of Caldera comes first in 2026, and how high is its highest mountain?"
STRANGE = "Say something strange about the weather in Oskvik, please."
FIVE = ["Oil", "Salt", "Rice", "Tea", "Soap"]
SHOPPING = f"Put {', '.join(FIVE)} on my to-do list, each for itself and due on 2026-07-23."
AMBIGUOUS = "How many inhabitants does the place have that I mean?"
BERTH = "Please book a berth of the port for the ship Aurora from 2026-12-01 for 2 nights; the contact is Ines."
LAMPS = "Which things are in the house of lamps?"
LONGEST = "How long is the longest berth of the port that the pilots know?"
LIES = "At which berth of the harbour master does the ship Argonaut lie?"
INHABITANTS = "How many inhabitants do the cities of my list have?"
_PROGRAMS = {
    INHABITANTS: [
        """found = []
for row in towns:
    place = (await search_places(city=row["city"]))["results"][0]
    found.append(f"{place['city']}: {place['population']}")
{"answered": "yes", "answer": "\\n".join(found)}"""
    ],
    LAMPS: [
        """found = await list_things()
{"answered": "yes", "answer": f"There is {found['things'][0]}."}"""
    ],
    LONGEST: [
        """found = await pilot_berths(min_length_m=150)
{"answered": "yes", "answer": f"It has {found[0]['length_m']} metres."}"""
    ],
    LIES: [
        """found = await berth_of(ship="Argonaut")
{"answered": "yes", "answer": f"The Argonaut lies at berth {found['number']}."}"""
    ],
    BERTH: [
        """ship = await find_ship(name="Aurora")
free = await list_berths(min_length_m=ship["length_m"])
made = await book_berth(imo=ship["imo"], berth=free[0]["number"], stay={"arrival": "2026-12-01", "nights": 2}, contact={"name": "Ines"})
{"answered": "yes", "answer": f"The Aurora lies at berth {free[0]['number']}, booking {made['reference']}."}"""
    ],
    AMBIGUOUS: [
        """city = await ask("Which place do you mean?", choices=["Meghalpet", "Velmora", "Oskvik"])
found = (await search_places(city=city))["results"][0]
{"answered": "yes", "answer": f"{found['city']} has {found['population']} inhabitants."}"""
    ],
    SHOPPING: [
        f"""import asyncio
made = await asyncio.gather(*[create_task(title=one, due_date="2026-07-23", priority="normal") for one in {FIVE}])
{{"answered": "yes", "answer": f"{{len(made)}} tasks are on your list."}}"""
    ],
    WARMEST: [
        """temperatures = {}
for city in ("Oskvik", "Brennick", "Kesterburg"):
    place = (await search_places(city=city))["results"][0]
    weather = await get_current_weather(latitude=place["latitude"], longitude=place["longitude"])
    temperatures[city] = weather["temperature"]
warmest = max(temperatures, key=lambda one: temperatures[one])
{"answered": "yes", "answer": f"{warmest}, with {temperatures[warmest]} degrees"}"""
    ],
    HOLIDAY: [
        'found = await holidays_of(country="Caldera")\n{"answered": "yes", "answer": found[0]}',
        """days = (await get_public_holidays(country_code="XC", year=2026))["holidays"]
last = days[99]
{"answered": "yes", "answer": last["holiday"]}""",
        """days = (await get_public_holidays(country_code="XC", year=2026))["holidays"]
mountain = ""
try:
    mountain = (await get_public_holidays(country_code="XX", year=2026))["country_code"]
except ToolError:
    mountain = ""
first = min(days, key=lambda one: one["date"])
if mountain:
    mountain = (await get_weekday(date=first["date"]))["weekday"]
{"answered": "partly", "answer": f"{first['holiday']} on {first['date']}", "missing": "the height of a mountain"}""",
    ],
    STRANGE: [
        f'''place = (await search_places(city="Oskvik"))["results"][0]
# {HOSTILE} 寒い天気 مرحبا بالعالم {"longword" * 40}
{{"answered": "yes", "answer": f"{HOSTILE} {{place['latitude']}} 今天很冷 مرحبا {"verylong" * 60}"}}'''
    ],
}
GIVE_UP = '{"reason": "no tool serves it", "action": "give_up", "number": null}'


def author(request: ChatRequest) -> Says | str:
    """The next text for a request; to any other question, that nothing serves it."""
    if "short Python program" not in str(request.messages[0]["content"]):
        return GIVE_UP
    texts = next((texts for asked, texts in _PROGRAMS.items() if asked in request.prompt), None)
    if texts is None:
        return "I write no program for that."
    written = sum(message["role"] == "assistant" for message in request.messages)
    return Says(f"```python\n{texts[min(written, len(texts) - 1)]}\n```", usage=(900, 75))
