"""The address book, messages and mail. Mail needs a token: where there is none, a message must do."""

from collections.abc import Iterator

from playground.scenarios.choice import Entries, some_contacts, some_scholars, told
from playground.scenarios.steps import contact_card, contact_id, place
from playground.session import Scenario, Session

_CARD = (
    "What is the telephone number of {name}?",
    "Give me the e-mail address of my contact {name}.",
    "Where does {name} from my address book live?",
    "Who employs my contact {name}?",
    "Show me the contact card of {name}.",
)
_MESSAGE = (
    'Send {name} the message "{text}".',
    'Text {name}: "{text}"',
    'Let my contact {name} know: "{text}"',
)
_MESSAGE_STATUS = ('Send {name} the message "{text}" and tell me whether it was delivered.',)
_MAIL = (
    'Send an e-mail with the subject "{subject}" and the text "{text}" to my contact {name}.',
    'Mail {name}: subject "{subject}", text "{text}".',
)
_MAIL_SCHOLAR = ('E-mail the scholar {name} with the subject "{subject}" and the text "{text}".',)
_REACH = ('Reach {name} by e-mail, or else by text message: "{text}"',)
_WEATHER = ("What is the weather where my contact {name} lives?", "How warm is it at {name}'s place right now?")
_ZONE = ("In which time zone does my contact {name} live?", "What is the UTC offset where {name} lives?")
_EMPLOYER = ("When was the organisation that my contact {name} works for founded?",)
_MAIL_CHECK = (
    'Mail {name} with the subject "{subject}" and the text "{text}", then check how many recipients it went to.',
)
_MAILBOX = ("What is the address of my own mailbox?", "Which e-mails have I sent today?")
_NOBODY = ("What is the telephone number of {name}?", "Give me the address of {name} from my contacts.")

_TEXTS = (
    "See you at nine.",
    "The train is late.",
    "Happy birthday!",
    "Please call me back.",
    "The parcel has arrived.",
    "I am on my way.",
    "Thank you for the evening.",
)
_SUBJECTS = ("Agenda", "Train times", "Good wishes", "Call me", "Your parcel", "Tonight", "Thanks")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_CARD, _card, _names(12, "card"))
    yield from told(_MESSAGE, _message, _texts(9, "message"))
    yield from told(_MESSAGE_STATUS, _message_status, _texts(5, "status"))
    yield from told(_MAIL, _mail, _texts(7, "mail"))
    people = [
        {"name": one.name, "subject": "Your paper", "text": "I have read it."} for one in some_scholars(4, "mail")
    ]
    yield from told(_MAIL_SCHOLAR, _mail_scholar, people)
    yield from told(_REACH, _reach, _texts(5, "reach"))
    yield from told(_MAIL, _no_mailbox, _texts(3, "no mailbox"))
    yield from told(_MAIL_CHECK, _mail_check, _texts(4, "check"))
    yield from told(_MAILBOX, _mailbox, [{}, {}])
    yield from told(_MAILBOX[:1], _locked, [{}])
    yield from told(_WEATHER, _weather, _names(5, "weather"))
    yield from told(_ZONE, _zone, _names(5, "zone"))
    yield from told(_EMPLOYER, _employer, _names(4, "employer"))
    yield from told(_NOBODY, _nobody, [{"name": "Nemo Nowhere"}, {"name": "Ada Unlisted"}])


def _names(count: int, key: str) -> Entries:
    return [{"name": one.name} for one in some_contacts(count, key)]


def _texts(count: int, key: str) -> Entries:
    return [
        {**entry, "text": _TEXTS[at % len(_TEXTS)], "subject": _SUBJECTS[at % len(_SUBJECTS)]}
        for at, entry in enumerate(_names(count, key))
    ]


def _card(session: Session, name: str) -> None:
    found = contact_card(session, name)
    session.answer(
        f"{name}: {found['phone_number']}, {found['email_address']}, lives in {found['home_city']}, works for "
        f"{found['employer']}."
    )


def _message(session: Session, name: str, text: str, subject: str) -> None:
    del subject
    found = session.call("send_message", contact_id=contact_id(session, name), text=text)
    session.answer(f"The message to {found['to_name']} is {found['delivery']}.")


def _message_status(session: Session, name: str, text: str, subject: str) -> None:
    del subject
    sent = session.call("send_message", contact_id=contact_id(session, name), text=text)
    found = session.call("get_message_status", message_id=sent["message_id"])
    session.answer(f"The message to {name} is {found['delivery']}.")


def _mail(session: Session, name: str, text: str, subject: str) -> None:
    session.with_keys()
    email = contact_card(session, name)["email_address"]
    found = session.call("send_email", to=[email], subject=subject, body=text)
    session.answer(f"Sent to {email} ({found['mail_id']}).")


def _mail_check(session: Session, name: str, text: str, subject: str) -> None:
    session.with_keys()
    email = contact_card(session, name)["email_address"]
    sent = session.call("send_email", to=[email], subject=subject, body=text)
    found = session.call("get_sent_email", mail_id=sent["mail_id"])
    session.answer(f"'{found['subject']}' went to {found['recipients']} address.")


def _mailbox(session: Session) -> None:
    session.with_keys()
    found = session.call("get_mailbox")
    session.answer(f"The mailbox {found['address']} has sent {len(found['sent'])} e-mails.")


def _locked(session: Session) -> None:
    session.fails("get_mailbox")
    session.give_up()


def _mail_scholar(session: Session, name: str, text: str, subject: str) -> None:
    session.with_keys()
    person = session.call("searchPerson", name=name)[0]
    email = session.call("getPersonBasicInfo", person_id=person["person_id"])["email"]
    found = session.call("send_email", to=[email], subject=subject, body=text)
    session.answer(f"Sent to {email} ({found['mail_id']}).")


def _reach(session: Session, name: str, text: str, subject: str) -> None:
    card = contact_card(session, name)
    session.fails("send_email", to=[card["email_address"]], subject=subject, body=text)
    session.turn_back("There is no token for the mailbox. A text message does the job, too.")
    found = session.call("send_message", contact_id=card["contact_id"], text=text)
    session.answer(f"Mail was not possible; the text message to {name} is {found['delivery']}.")


def _no_mailbox(session: Session, name: str, text: str, subject: str) -> None:
    email = contact_card(session, name)["email_address"]
    session.fails("send_email", to=[email], subject=subject, body=text)
    session.give_up()


def _weather(session: Session, name: str) -> None:
    there = place(session, contact_card(session, name)["home_city"])
    now = session.call("get_current_weather", latitude=there["latitude"], longitude=there["longitude"])
    session.answer(f"In {there['city']} it is {now['temperature']} °C with {now['condition']}.")


def _zone(session: Session, name: str) -> None:
    there = place(session, contact_card(session, name)["home_city"])
    zone = session.call("get_timezone_info", timezone=there["timezone"])
    session.answer(f"{name} lives in {zone['timezone']}, {zone['utc_offset']} of UTC.")


def _employer(session: Session, name: str) -> None:
    found = session.call("getInstitution", organization=contact_card(session, name)["employer"])
    session.answer(f"{found['organization']} was founded in {found['founded']}.")


def _nobody(session: Session, name: str) -> None:
    session.call("find_contact", name=name)
    session.give_up()
