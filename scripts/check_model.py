"""Checks a language model, or an embedding service: whether it works, what it supports, how fast it is and what it costs."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import _environment as _environment  # first: it tells where the packages are missing
import typer

from domain.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from wiring.embedding_check import EmbeddingReport
    from wiring.model_check import ModelReport
    from wiring.settings import Settings


def main(
    url: Annotated[str | None, typer.Option(help="Address of the endpoint, instead of FOOTPATH_MODEL_URL.")] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model, instead of FOOTPATH_MODEL_NAME.")] = None,
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens of prompt.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens of answer.")] = None,
    embedding: Annotated[
        bool, typer.Option("--embedding", help="Try the embedding service instead (FOOTPATH_EMBEDDING_URL and _NAME).")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Try the model with some twenty small questions, five of them for programs (the key is read from FOOTPATH_MODEL_API_KEY or FOOTPATH_EMBEDDING_API_KEY only).

    Exit codes: 0 it can be used, 1 it answers but not validly, 2 wrong use, 3 it cannot be reached or asked.
    """
    try:
        if (price_in is None) != (price_out is None):
            raise UsageError("give both prices, --price-in and --price-out, or none")
        prices = None if price_in is None or price_out is None else (price_in, price_out)
        if embedding:
            vectors = asyncio.run(_check_embedding(url, model))
            _end(vectors, _vectors(vectors), as_json=json)
        report = asyncio.run(_check(url, model, prices))
        report = _with_form_kept(report, url, model)
    except UsageError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise typer.Exit(130) from None
    _end(report, _facts(report), as_json=json)


def _with_form_kept(report: "ModelReport", url: str | None, model: str | None) -> "ModelReport":
    """With a word on where it is kept what the model writes programs in, where that is news."""
    from wiring.program_forms import store_new_form

    file, form = store_new_form(_settings(url, model), report.program_form), report.program_form
    told = f"programs are asked for in {form} from now on, which is kept in {file}"
    return report.model_copy(update={"advice": (*report.advice, told)}) if file else report


def _settings(url: str | None, model: str | None, of: str = "model") -> "Settings":
    from wiring.settings import read_settings

    given = {name: value for name, value in ((f"{of}_url", url), (f"{of}_name", model)) if value is not None}
    return read_settings(**given)


def _end(report: "ModelReport | EmbeddingReport", table: "Table", *, as_json: bool) -> NoReturn:
    """Tell what was found, and leave with its code."""
    if as_json:
        from orjson import OPT_INDENT_2, dumps

        print(dumps({**report.model_dump(mode="json"), "works": report.works}, option=OPT_INDENT_2).decode())
    else:
        _show(report, table)
    if report.error:
        print(report.error, file=sys.stderr)
    raise typer.Exit(0 if report.works else 3 if report.failure else 1)


async def _check(url: str | None, model: str | None, prices: tuple[float, float] | None) -> "ModelReport":
    from wiring.model_check import check_model

    return await check_model(_settings(url, model), prices)


async def _check_embedding(url: str | None, model: str | None) -> "EmbeddingReport":
    from wiring.embedding_check import check_embedding

    return await check_embedding(_settings(url, model, "embedding"))


def _show(report: "ModelReport | EmbeddingReport", table: "Table") -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(f"{report.model} at {report.url}", style="bold"))
    if table.row_count:
        console.print(table)
    for advice in report.advice:
        console.print(Text(f"- {advice}", style="yellow"))


def _vectors(report: "EmbeddingReport") -> "Table":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    if report.dimension is not None:
        table.add_row("dimension", str(report.dimension))
        table.add_row(
            "one request", f"{report.seconds or 0:.3f} s; {report.texts_a_second or 0:.0f} texts a second in batches"
        )
        table.add_row("in order", "yes" if report.ordered else "no")
        table.add_row("tells tools apart", "yes" if report.sensible else "no")
        table.add_row("identity", report.identity)
    return table


def _facts(report: "ModelReport") -> "Table":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    if report.listed is not None:
        known = "yes" if report.model in report.listed else "no"
        table.add_row("listed", f"{known}, among {len(report.listed)} models")
    if report.chat_seconds is not None:
        table.add_row("one answer", f"{report.chat_seconds:.2f} s; three at once {report.at_once_seconds or 0:.2f} s")
        first = f"yes, first piece after {report.stream_first_seconds or 0:.2f} s"
        table.add_row("streaming", first if report.streams else "in one piece")
        table.add_row("counts tokens", "yes" if report.usage_reported else "no")
    for form, taken in report.forms.items():
        table.add_row(form, "yes" if taken else "no")
    for kind, check in report.decisions.items():
        verdict = "right" if check.right else "valid, but wrong" if check.valid else "not valid"
        tokens = f"{check.prompt_tokens} + {check.completion_tokens} tokens"
        table.add_row(kind, f"{verdict}; {tokens}; {check.seconds:.2f} s")
    for form, programs in report.programs.items():
        served = f"{programs.right} of {programs.samples} samples served, {programs.first} at once"
        each = " + ".join(str(n // programs.samples) for n in (programs.prompt_tokens, programs.completion_tokens))
        cost = "" if programs.cost is None else f"; costs {programs.cost:.6f}"
        table.add_row(f"programs in {form}", f"{served}; {each} tokens each{cost}; {programs.seconds:.2f} s in all")
    if report.run_prompt_tokens:
        cost = "" if report.cost is None else f"; costs {report.cost:.6f}"
        table.add_row("a run of two calls", f"{report.run_prompt_tokens} + {report.run_completion_tokens} tokens{cost}")
    return table


if __name__ == "__main__":
    typer.run(main)
