"""Parts of a request that tell something and ask for nothing: where somebody is going, who somebody is, why it is asked."""

import re

_WHO = r"i|we|my|our|it|this|that|he|she|they"
_COMES = "arrive|come|depart|drive|fly|go|land|leave|meet|move|return|sail|stay|travel|visit"
_COMES_ONE = "arrives|comes|departs|drives|flies|goes|lands|leaves|meets|moves|sails|stays|travels|visits"
"""Without ``returns``: those of a share are asked for."""
_WHITHER = (
    r"(?=\s+(?:in|to|at|on|from|for|into|there|here|back|home|with|by|again|next|this|tomorrow|today|until|after|before|"
    r"(?-i:[A-Z~])))"
)
"""What follows a verb of coming and going, and seldom a noun that looks like one."""
_NOUNS = r"(?:(?!(?:to|of|for|that|which|who|whose|when|where|how|if|i|we|you|he|she|they)\b)[\w'-]+ ){1,4}?"
_MANY = r"(?:all|both|several|some|many|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,3})"
_OCCASION = rf"since (?:i|we|he|she|it|they)\b|(?:because|as|now that|given that) (?:{_WHO})\b"
_STORY = re.compile(
    rf"^(?:{_WHO}|as an?|(?:thinking|dreaming) (?:of|about)|(?:moving|flying|travelling|traveling|going|heading|planning|hoping) (?:on|to|for)|there (?:is|are|will|was)|(?:the|an?) (?:[\w'-]+ ){{1,5}}?(?:should|must|will|is|are|was|were|"
    r"has|have|had|needs?|reads?|says?|shows?|leaves?|starts?|begins?|ends?|runs?|costs?|takes?|lies|weighs?|measures?|arrives?|departs?))\b"
    rf"|^(?:the|an?) {_NOUNS}(?:{_COMES_ONE})\b{_WHITHER}"
    rf"|^{_MANY} (?:of (?:us|them|my|our|the) ?)?(?:{_NOUNS})?(?:(?:{_COMES})\b{_WHITHER}|(?:are|were|will)\b)"
    rf"|^(?:{_OCCASION})",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"^(?:(?-i:[A-Z~])[\w'~-]*(?: [\w'~-]+){0,7}? (?:is|are|was|were|has|have|had|won|lost|beat|played|plays|wrote|lives|works|made)\b"
    rf"|(?-i:[A-Z~][\w'~-]*(?: (?:and )?[A-Z][\w'-]*){{0,3}}) (?:{_COMES}|{_COMES_ONE})\b{_WHITHER}"
    r"|.{1,80}\b(?:is|are|was|were) (?:my|our|his|her|their)\b)", re.IGNORECASE
)  # fmt: skip
"""A statement about somebody or something: no question, no order."""
_EXPLAINS = re.compile(r"^(?:i mean|it(?:'s| is| was)|that(?:'s| is)|this is|meaning)\b", re.IGNORECASE)


def tells(part: str, *, asks: bool) -> bool:
    """Whether a part tells something. ``asks``: it begins as questions and orders do, so that a name there may be none."""
    return _STORY.match(part) is not None or (not asks and _TOLD.match(part) is not None)


def explains(part: str) -> bool:
    """Whether a part says what was meant by the one before it: ``I mean the boss``."""
    return _EXPLAINS.match(part) is not None


def is_occasion(part: str) -> bool:
    """Whether a part says why something is asked, before it is: ``since we are coming to Oslo``."""
    return re.match(_OCCASION, part, re.IGNORECASE) is not None
