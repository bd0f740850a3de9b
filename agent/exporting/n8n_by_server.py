"""A program that n8n cannot carry out call by call, as one run on a Footpath server: its text is sent, its events are waited for."""

from agent.exporting.exported import ExportedProgram
from agent.exporting.n8n_nodes import Node, inputs_node, node, whole
from agent.exporting.n8n_values import INPUTS, expression, literal
from domain.model import JsonObject

_SERVER = "http://127.0.0.1:8000"
_TOLD = (
    "const told = $json.data.split('\\n\\n').filter((one) => one.includes('event: run.finished')).pop();\n"
    "if (!told) throw new Error('the run has not ended in time; it stands on the page of the server');\n"
    "const end = JSON.parse(told.slice(told.indexOf('data: ') + 6)).event;\n"
    "if (end.outcome !== 'answered') throw new Error(end.error || end.answer || end.outcome);\n"
    "return { json: { answer: end.answer, outcome: end.outcome } };"
)


def workflow_by_server(program: ExportedProgram, why: str) -> str:
    """The JSON of such a workflow. ``why``: what n8n cannot say."""
    field = "footpath_server"
    while field in program.inputs:
        field += "_"
    server = f"$({literal(INPUTS)}).item.json[{literal(field)}]"
    chain = [
        inputs_node(program.inputs, {field: _SERVER}),
        _request(
            "Conversation",
            "POST",
            f'{server} + "/api/v1/conversations"',
            f"{{ {literal('title')}: {literal(program.words[:80])} }}",
        ),
        _request(
            "Run",
            "POST",
            f'{server} + "/api/v1/conversations/" + $("Conversation").item.json.body.id + "/runs"',
            _sent(program),
        ),
        _request("Events", "GET", f'{server} + "/api/v1/runs/" + $("Run").item.json.body.id + "/events"'),
        node("Answer", "code", 2, {"mode": "runOnceForEachItem", "jsCode": _TOLD}),
    ]
    about = (
        f"Exported by Footpath. Its server runs the program, since n8n alone cannot: {why}. Write the server's address into *{INPUTS}* ({field}), and choose one"
        " credential for the three requests: Header Auth with the name Authorization and the value Bearer …, a token of that server (create_token.py). Its store"
        " has to know the program's tools."
    )
    changes = (
        ""
        if program.reads
        else " What it changes waits for the user's leave on the server's page, five minutes at most."
    )
    return whole(program, program.inputs, chain, about + changes)


def _sent(program: ExportedProgram) -> str:
    """The body that asks for the run."""
    functions = program.plan.program.tools
    schemas: JsonObject = {**program.inputs}
    fields = {
        "text": literal(program.plan.program.text),
        "tools": literal({name: str(functions[name]) for name in sorted(functions)}),
        "inputs": literal(schemas),
        "values": "{ "
        + ", ".join(f"{literal(name)}: $({literal(INPUTS)}).item.json[{literal(name)}]" for name in program.inputs)
        + " }",
    }
    sent = ", ".join(f"{literal(name)}: {code}" for name, code in fields.items())
    return f"{{ {literal('request')}: {literal(program.words)}, {literal('program')}: {{ {sent} }} }}"


def _request(name: str, method: str, url: str, body: str = "") -> Node:
    """A request to the server. That for events is answered bit by bit, and as a text."""
    form = (
        {"fullResponse": True, "responseFormat": "json"}
        if body
        else {"fullResponse": True, "responseFormat": "text", "outputPropertyName": "data"}
    )
    parameters: Node = {
        "method": method,
        "url": expression(url),
        "authentication": "genericCredentialType",
        "genericAuthType": "httpHeaderAuth",
        **(
            {
                "sendBody": True,
                "contentType": "json",
                "specifyBody": "json",
                "jsonBody": expression(f"JSON.stringify({body})"),
            }
            if body
            else {}
        ),
        "options": {"redirect": {"redirect": {"followRedirects": False}}, "response": {"response": form}},
    }
    return node(name, "httpRequest", 4.2, parameters)
