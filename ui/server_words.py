"""Sentences that servers answer with and that never change, as the page says them in its visitor's language: ``say`` finds them as they come."""

from ui.language import message

SENTENCES = (
    message("Writes a short program that calls the tools offered for the request, and runs it."),
    message("Chooses among the solutions of the library, and writes a program after the chosen one."),
    message("Searches the tool graph step by step, and goes back where a way leads nowhere."),
    message("Finds the whole path by graph search before the first call, one step at a time, and reviews every path."),
    message("Sees each result before it chooses the next step."),
    message("Chooses the whole path at once, with a reason for each step."),
    message("Chooses the whole path at once."),
    message("Takes the tools that are nearest to the request, without any choice."),
    message("Rules decide: no language model is asked."),
    message("A language model decides; rules stand in for it while it is out of reach."),
    message("This cannot be taken back, as far as is known."),
    message("It can be set anew in the same way; what was there before is not kept."),
    message("you said it"),
    message("the tool's own document gives it"),
    message("nobody said it, and no answer holds it: it was written on the way"),
    message("nobody said it: the program worked it out"),
    message("fixed by the author of the template, who is not you"),
    message("an administrator said so"),
    message("its document says so"),
    message("it is a tool of an MCP server, and nobody but that server can say that it only reads"),
    message("it is called by GET"),
    message("it is called by HEAD"),
    message("it is called by OPTIONS"),
    message("it is called by QUERY"),
    message("it is called by POST"),
    message("it is called by PUT"),
    message("it is called by PATCH"),
    message("it is called by DELETE"),
)
"""Another wording of a server's is shown as it came."""
