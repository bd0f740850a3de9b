"""Calibration texts: for each topic, two equivalent requests and two tool documents that serve them.

The reference figures of :mod:`retriever.calibration` were measured on these texts: after a change of one, measure
them again.
"""

TOPICS: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = (
    (
        ("Will it rain in Oslo tomorrow?", "What is the weather forecast for Oslo for tomorrow?"),
        (
            "Sky Forecast: get daily forecast. Temperature, rain and wind of the next days at a place. Category Weather. Parameters latitude, longitude, days",
            "Meteo: forecast. Weather forecast for a city by day. Category Weather. Parameters city, country",
        ),
    ),
    (
        ("How many euros do I get for 250 dollars?", "Convert 250 US dollars into euros."),
        (
            "Currency Tools: convert. Changes an amount of money from one currency into another at today's rate. Category Finance. Parameters from, to, amount",
            "Exchange Rates: latest rates. Current exchange rates of a base currency. Category Financial. Parameters base, symbols",
        ),
    ),
    (
        ("Find flights from Paris to Rome on Friday.", "Which flights leave Paris for Rome this Friday?"),
        (
            "Flight Search: search flights. Flights between two airports on a date with prices and times. Category Travel. Parameters origin, destination, date",
            "Airline Data: list departures. Scheduled departures of an airport towards a destination. Category Transportation. Parameters airport, to, day",
        ),
    ),
    (
        ("Who won the last match of Ajax?", "What was the result of Ajax's most recent game?"),
        (
            "Football Scores: team results. Results of a football team's matches, latest first. Category Sports. Parameters team, season",
            "Live Soccer: get fixtures. Fixtures and scores of a club. Category Sports. Parameters club id, last",
        ),
    ),
    (
        ("Translate this sentence into Spanish.", "What does this sentence mean in Spanish?"),
        (
            "Translator: translate text. Translates a text from one language into another. Category Translation. Parameters text, source, target",
            "Deep Language: translate. Machine translation between many languages. Category Translation. Parameters q, to",
        ),
    ),
    (
        ("Find a recipe with chicken and rice.", "What can I cook with rice and chicken?"),
        (
            "Recipe Box: search by ingredients. Recipes that can be cooked with given ingredients. Category Food. Parameters ingredients, number",
            "Kitchen Ideas: find meals. Meals and how they are prepared, by ingredient. Category Food. Parameters ingredient, cuisine",
        ),
    ),
    (
        ("What is the share price of Siemens?", "How much does a share of Siemens cost right now?"),
        (
            "Market Quotes: get quote. The latest price of a share on an exchange. Category Finance. Parameters symbol, exchange",
            "Stock Data: price. Real-time and delayed stock prices by ticker. Category Finance. Parameters ticker, interval",
        ),
    ),
    (
        ("Which books did Ursula Le Guin write?", "List the novels by Ursula Le Guin."),
        (
            "Open Books: works of author. Books written by an author with their years. Category Education. Parameters author, limit",
            "Library Catalogue: search. Finds books by title, author or subject. Category Books. Parameters author, title",
        ),
    ),
    (
        ("Send an email to my landlord about the heating.", "Write to my landlord by mail that the heating is broken."),
        (
            "Mailer: send message. Sends an email to one or several recipients. Category Email. Parameters to, subject, body",
            "Post Box: create mail. Composes and delivers an electronic letter. Category Communication. Parameters recipient, text",
        ),
    ),
    (
        (
            "Add a meeting with Anna on Monday at ten.",
            "Put an appointment with Anna into my calendar for Monday at 10.",
        ),
        (
            "Calendar: create event. Puts an event with a time and guests into a calendar. Category Business. Parameters title, start, attendees",
            "Scheduler: book appointment. Books an appointment at a free time. Category Productivity. Parameters person, time",
        ),
    ),
    (
        ("Where is the nearest pharmacy?", "Find a pharmacy close to me."),
        (
            "Places: nearby search. Shops, restaurants and pharmacies around a point. Category Mapping. Parameters latitude, longitude, type, radius",
            "Map Finder: points of interest. Points of interest near an address by kind. Category Location. Parameters address, kind",
        ),
    ),
    (
        ("What do the reviews say about this hotel?", "Show me what guests wrote about the hotel."),
        (
            "Hotel Guide: list reviews. Reviews of guests about a hotel with their ratings. Category Travel. Parameters hotel id, page",
            "Stay Finder: hotel reviews. What travellers say about a hotel. Category Travel. Parameters property, language",
        ),
    ),
    (
        ("Which song has this line in its lyrics?", "Find the song that these lyrics are from."),
        (
            "Lyrics: search by text. Songs whose lyrics hold given words. Category Music. Parameters text, artist",
            "Song Words: find track. Finds a track by a line of its words. Category Music. Parameters line",
        ),
    ),
    (
        ("Which films are on at the cinema tonight?", "What films are shown in cinemas this evening?"),
        (
            "Cinema Programme: showtimes. Films and times of cinemas in a town on a day. Category Entertainment. Parameters town, date",
            "Movie Listings: now playing. Films that are in cinemas now. Category Movies. Parameters region, page",
        ),
    ),
    (
        ("Shorten this link for me.", "Make a short address out of this long URL."),
        (
            "Short Links: create. Makes a short address that leads to a long one. Category Tools. Parameters url, alias",
            "Tiny Address: shorten. Shortens a link and counts its clicks. Category Tools. Parameters link",
        ),
    ),
    (
        ("Is this email address valid?", "Check whether that email address really exists."),
        (
            "Address Check: verify email. Tells whether an email address exists and takes mail. Category Email. Parameters email",
            "Mail Validation: validate. Validates the form, domain and mailbox of an address. Category Data. Parameters address",
        ),
    ),
    (
        ("What are the symptoms of measles?", "How do I recognise measles?"),
        (
            "Health Facts: disease information. Symptoms, causes and treatment of a disease. Category Health. Parameters disease",
            "Medical Guide: symptoms. Signs by which an illness is recognised. Category Medical. Parameters condition, language",
        ),
    ),
    (
        ("Create a task to paint the fence.", "Remind me to paint the fence with a new to-do."),
        (
            "To-dos: create task. Adds a task to a list with a date on which it is due. Category Productivity. Parameters title, list, due",
            "Task Board: add card. Adds a card to a board. Category Business. Parameters board, text",
        ),
    ),
    (
        ("How far is it from Berlin to Prague by car?", "What is the driving distance between Berlin and Prague?"),
        (
            "Routing: driving distance. Distance and time of a route between two places by car. Category Mapping. Parameters from, to",
            "Road Planner: get route. A route with its length and its turns. Category Location. Parameters start, end, vehicle",
        ),
    ),
    (
        ("Generate an image of a castle at night.", "Draw me a picture of a castle by night."),
        (
            "Picture Maker: generate image. Makes an image out of a description in words. Category Artificial Intelligence. Parameters prompt, size",
            "Art Studio: draw. Draws a picture in a style from a text. Category Images. Parameters text, style",
        ),
    ),
    (
        ("What is the population of Kenya?", "How many people live in Kenya?"),
        (
            "Countries: get country. Population, capital, languages and area of a country. Category Data. Parameters name",
            "World Statistics: population. Number of inhabitants of a country by year. Category Education. Parameters country, year",
        ),
    ),
    (
        ("Where is my parcel?", "Track the package that I ordered."),
        (
            "Parcel Tracking: status. Where a parcel is and when it arrives, by its number. Category Logistics. Parameters carrier, number",
            "Shipments: track. Events of a shipment on its way. Category Logistics. Parameters tracking code",
        ),
    ),
    (
        ("Show the latest news about the election.", "What is being reported about the election today?"),
        (
            "Headlines: search news. News articles about a topic, latest first. Category News. Parameters query, language, from",
            "Press Review: articles. Articles of newspapers by keyword. Category News. Parameters keyword, day",
        ),
    ),
    (
        ("Who is calling from this phone number?", "Look up whose phone number that is."),
        (
            "Phone Lookup: identify number. Owner, carrier and country of a phone number. Category Communication. Parameters phone",
            "Number Info: reverse lookup. Finds the name that belongs to a telephone number. Category Data. Parameters number",
        ),
    ),
)
