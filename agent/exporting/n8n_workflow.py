"""A program as a workflow of n8n: by n8n's own requests where it calls one tool after the other, else as one run on a Footpath server."""

from agent.exporting.exported import ExportedProgram
from agent.exporting.n8n_by_server import workflow_by_server
from agent.exporting.n8n_calls import workflow_of_calls
from domain.errors import NotLinearError, UsageError


def n8n_workflow(program: ExportedProgram) -> str:
    """The JSON that n8n imports."""
    try:
        return workflow_of_calls(program)
    except (NotLinearError, UsageError) as error:
        return workflow_by_server(program, str(error).partition(", which steps cannot say")[0])
