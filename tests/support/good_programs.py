"""Correct programs over the playground's functions, each in a style that authors have: no check may have anything against one."""

PROGRAMS = (
    'people = await searchPerson(name="Henrik Grimaldo")\n{"answered": "yes", "answer": people[0]["num_citation"]}',
    """
people = await searchPerson(name="Henrik Grimaldo", organization="Santa Iria")
best = None
for c in await getCoauthors(person_id=people[0]["person_id"]):
    info = (await searchPerson(name=c["name"]))[0]
    if best is None or info["num_citation"] > best["num_citation"]:
        best = info
{"answered": "yes", "answer": f"{best['name']}, cited {best['num_citation']} times"}
""",
    """
import asyncio
found = await searchPerson(interest="speech recognition")
async def pubs(person):
    return person["name"], await getPersonPubs(person_id=person["person_id"])
pairs = await asyncio.gather(*[pubs(p) for p in found[:5]])
counts = {name: len([x for x in items if x["year"] >= 2020]) for name, items in pairs}
top = max(counts, key=counts.get) if counts else None
{"answered": "yes" if top else "no", "answer": top, "missing": ""}
""",
    """
place = first((await search_places(city="Velmora"))["results"])
if place is None:
    answer = {"answered": "no", "answer": "", "missing": "no such city"}
else:
    w = await get_current_weather(latitude=place["latitude"], longitude=place["longitude"])
    answer = {"answered": "yes", "answer": f"{w['temperature']:.1f} °C, {w['condition']}"}
answer
""",
    """
try:
    order = await get_order(order_number="A-17")
    result = {"answered": "yes", "answer": order["order_status"]}
except ToolError as e:
    result = {"answered": "no", "answer": "", "missing": str(e)}
result
""",
    """
from datetime import date, timedelta
start = date.fromisoformat(today) + timedelta(days=1)
flights = await searchFlights(originCode="VEL", destinationCode="TAR", departureDate=start.isoformat())
items = flights["data"]["items"]
cheapest = min(items, key=lambda f: float(f["price"]["total"])) if items else None
{"answered": "yes" if cheapest else "no", "answer": cheapest["flightNumber"] if cheapest else ""}
""",
    """
q = await get_stock_quote(symbol=(await lookup_symbol(company="Kestrelon"))[0]["symbol"])
change = q.get("change_percent", 0)
{"answered": "yes", "answer": round(q["price"] * (1 + change / 100), 2)}
""",
    """
books = (await search_books(title="The Glass Harbour"))["books"]
b = pick(books, "The Glass Harbour", "title")
details = await get_book_details(book_id=b["book_id"])
author = await get_author_details(author_id=details["author_id"])
older = sorted([x for x in author["books"] if x["year"] < details["year"]], key=lambda x: (x["year"], x["title"]))
{"answered": "yes", "answer": [x["title"] for x in older] or "none"}
""",
    """
symbols = [s["symbol"] for s in await lookup_symbol(company="Kestrelon")]
closes = []
for s in symbols:
    h = await get_price_history(symbol=s, from_="2026-01-01", to="2026-01-31")
    closes.extend(h["closes"])
average = sum(c["close"] for c in closes) / len(closes) if closes else 0
{"answered": "yes", "answer": f"{average:.2f}"}
""",
    """
team = (await searchTeams(search="Velmora"))["response"][0]["team"]
squad = await getTeamSquad(teamId=team["id"])
by_position: dict[str, list] = {}
for p in squad:
    by_position.setdefault(p["position"], []).append(p["name"])
{"answered": "yes", "answer": {k: len(v) for k, v in by_position.items()}}
""",
    """
c1, c2 = await find_country(name="Veldania"), await find_country(name="Kaimana")
same = c1["currency_code"] == c2["currency_code"]
shared = set(c1["languages"]) & set(c2["languages"])
{"answered": "yes", "answer": f"same currency: {same}; languages both speak: {', '.join(sorted(shared)) or 'none'}"}
""",
    """
rooms = []
dest = (await list_destinations(query="Velmora"))["destinations"][0]["dest_id"]
for h in (await search_hotels(dest_id=dest, min_stars=4, amenities=["wifi", "pool"]))["hotels"]:
    r = await hotel_room_rates(hotel_id=h["hotel_id"], check_in="2026-12-01", check_out="2026-12-03", guests=2)
    rooms += [(x["total_price"], h["hotel_name"], x["rate_id"]) for x in r["rates"] if x["sleeps"] >= 2]
rooms.sort()
price, hotel, rate = rooms[0]
booking = await book_room(rate_id=rate, check_in="2026-12-01", check_out="2026-12-03", guest_name="Ileana Rosenthorn", guests=2)
{"answered": "yes", "answer": f"{hotel}: {booking['booking_id']} ({price})"}
""",
    """
order = await place_order(
    customer={"name": "Dagny Aldermoor", "email": "dagny@oskvik.example"},
    shipping_address={"street": "Harbour Lane 4", "city": "Velmora"},
    items=[{"product_id": p["product_id"], "quantity": 2} for p in (await search_products(query="copper kettle"))["products"][:1]],
)
{"answered": "yes", "answer": order["order_number"]}
""",
    """
products = (await search_products(query="kettle", category=["kitchen"], filter={"max_price": 50.0, "in_stock": True}))["products"]
rated = [p for p in products if p.get("rating") and p["rating"] >= 4]
total = 0
for p in rated:
    stock = await check_stock(product_id=p["product_id"])
    total += sum(w["pieces"] for w in stock["warehouses"] if w["warehouse_city"] == "Velmora")
{"answered": "yes" if rated else "no", "answer": total}
""",
    """
import json, re, math
label = await drug_label(ndc_code=(await drug_lookup(name="Almovir"))[0]["ndc_code"])
doses = math.floor(1000 / label["single_dose_mg"])
text = re.sub(r"\\s+", " ", "; ".join(label["side_effects"]))
{"answered": "yes", "answer": json.dumps({"doses": min(doses, label["max_doses_per_day"]), "effects": text})}
""",
    """
jobs = (await searchJobs(keywords="data engineer", location="Velmora", employmentType=["full_time"], remoteOnly=True))["jobs"]
best = None
for j in jobs:
    d = await getJob(jobId=j["jobId"])
    if best is None or d["salary"]["max"] > best["salary"]["max"]:
        best = d
{"answered": "yes", "answer": best["title"]} if best else {"answered": "no", "answer": None}
""",
    """
ids = {p["id"] for p in (await search_person(query="Corvinelli"))["results"]}
films = {}
for i in ids:
    for m in (await person_movie_credits(person_id=i))["cast"]:
        films[m["id"]] = m
details = [await movie_details(movie_id=k) for k in films]
long = [d for d in details if d["runtime"] and d["runtime"] > 120 and any(g["name"] == "Drama" for g in d["genres"])]
[f"{d['title']} ({d['release_date'][:4]})" for d in sorted(long, key=lambda d: d["vote_average"], reverse=True)]
""",
    """
standings = (await getStandings(leagueId=1))["standings"]
table = {row["team"]["name"]: row for row in standings}
a, b = table.get("Velmora City"), table.get("Oskvik United")
if a and b:
    diff = a["points"] - b["points"]
    out = {"answered": "yes", "answer": abs(diff)}
elif a or b:
    out = {"answered": "partly", "answer": (a or b)["points"], "missing": "the other team"}
else:
    out = {"answered": "no", "answer": "", "missing": "both teams"}
out
""",
    """
recipes = await search_recipes(query="soup", diet="vegan", maxReadyTime=30, number=20)
def calories(n):
    digits = "".join(c for c in n["calories"] if c.isdigit() or c == ".")
    return float(digits) if digits else 0.0
rows = []
for r in recipes["results"]:
    try:
        rows.append((calories(await get_recipe_nutrition(id=r["id"])), r["title"]))
    except ToolError:
        continue
{"answered": "yes", "answer": min(rows)[1]} if rows else {"answered": "no", "answer": ""}
""",
    """
slots = None
for clinic in (await clinicsNearby(lat=1.0, lng=2.5, specialty="dentistry"))["clinics"]:
    for doctor in await clinicDoctors(clinicId=clinic["clinicId"], specialty="dentistry"):
        if "Veldanian" in doctor["languages"]:
            found = (await doctorSlots(doctorId=doctor["doctorId"], date="2026-11-24"))["slots"]
            if found:
                slots = found
                break
    if slots:
        break
booked = await bookAppointment(slotId=slots[0]["slotId"], patientName="Ileana Rosenthorn") if slots else None
{"answered": "yes" if booked else "no", "answer": booked["startsAt"] if booked else ""}
""",
    """
rates = (await get_latest_rates(base_currency="VDK"))["rates"]
value = rates.get("NRV")
{"answered": "yes", "answer": 100 * value} if value is not None else {"answered": "no", "answer": None, "missing": "NRV"}
""",
    """
holidays = await get_public_holidays(country_code="XV", year=int(today[:4]))
ahead = [h for h in holidays["holidays"] if h["date"] > today]
nxt = ahead[0] if ahead else None
days = (await count_days_between(start_date=today, end_date=nxt["date"]))["days"] if nxt else None
{"answered": "yes", "answer": f'{nxt["holiday"]} in {days} days'} if nxt else {"answered": "no", "answer": ""}
""",
    """
seen: set[str] = set()
queue = [(await searchPerson(name="Henrik Grimaldo"))[0]["person_id"]]
while queue and len(seen) < 20:
    current = queue.pop(0)
    if current in seen:
        continue
    seen.add(current)
    queue += [c["id"] for c in await getCoauthors(person_id=current) if c["id"] not in seen]
{"answered": "yes", "answer": len(seen)}
""",
    """
calls = [getPersonInterest(person_id=p["person_id"]) for p in await searchPerson(organization="University of Velmora")]
import asyncio
from collections import Counter
counts = Counter(topic for topics in await asyncio.gather(*calls) for topic in topics)
common = counts.most_common(3)
{"answered": "yes", "answer": ", ".join(f"{topic} ({n})" for topic, n in common)}
""",
    """
found = await find_company(name="Kestrelon Foods")
look(found)
""",
    """
officers = await get_company_officers(company_id=(await find_company(name="Kestrelon", sector="food"))["items"][0]["company_id"])
chair = [o for o in officers if "chair" in o["role"].lower()]
if not chair:
    return {"answered": "no", "answer": "", "missing": "a chair"}
return {"answered": "yes", "answer": chair[0]["officer_name"]}
""",
    """
cinemas = (await findCinemas(city="Velmora"))["cinemas"]
shows = [s for c in cinemas for s in (await getShowtimes(cinemaId=c["cinemaId"], date=today))["showtimes"]]
prices = sorted({s["ticketPrice"] for s in shows})
match len(prices):
    case 0:
        text = "no shows"
    case 1:
        text = f"all cost {prices[0]}"
    case _:
        text = f"from {prices[0]} to {prices[-1]}"
{"answered": "yes" if shows else "partly", "answer": text}
""",
    """
a = (await geocode(q="Velmora"))[0]
b = (await geocode(q="Oskvik"))[0]
d = await measure_distance(from_lat=a["lat"], from_lng=a["lng"], to_lat=b["lat"], to_lng=b["lng"])
km = d["distance_km"]
hours, minutes = divmod(round(km / 80 * 60), 60)
{"answered": "yes", "answer": f"{km} km, {hours} h {minutes:02d} min"}
""",
    """
forecast = await get_daily_forecast(latitude=10, longitude=20, days=7)
rain = [d["date"] for d in forecast["daily"] if d["precipitation"] > 0]
warmest = max(forecast["daily"], key=lambda d: d["temperature_max"])
{"answered": "yes", "answer": {"rain": rain, "warmest": warmest["date"], "mean": sum(d["temperature_max"] for d in forecast["daily"]) / 7}}
""",
    """
events = (await list_events(time_min=today, time_max=today))["events"]
titles = list(map(lambda e: e["title"], filter(lambda e: "grant" in e["title"].lower(), events)))
{"answered": "yes" if titles else "no", "answer": "\\n".join(f"{i}. {t}" for i, t in enumerate(titles, 1))}
""",
)
