"""An author that needs no model: what a request says, the sentences that the offered functions can say, and which of them says the same."""
