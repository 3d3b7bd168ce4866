"""`feedctl el`: try out expressions."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.options import OutputAs, OutputFormat, print_json

app = typer.Typer(help="Evaluate expressions of the expression language.", no_args_is_help=True)


@app.callback()
def el() -> None:
    """Evaluate expressions of the expression language."""


@app.command("eval")
def evaluate_expression(
    expression: Annotated[str, typer.Argument(metavar="EXPR", help="An EL function, for example 'today(-3,-20)'.")],
    time: Annotated[str, typer.Option("--time", metavar="INSTANT", help="The nominal time, 2026-03-01T06:40Z.")],
    timezone: Annotated[str, typer.Option("--timezone", metavar="ZONE", help="The process's time zone.")] = "UTC",
    output: OutputAs = OutputFormat.TEXT,
) -> None:
    """Print the instant that EXPR means at a nominal time."""
    from toolkit.el import evaluate, format_instant, parse_instant

    nominal = parse_instant(time)
    instant = format_instant(evaluate(expression, nominal, timezone))
    if output is OutputFormat.JSON:
        print_json({
            "expression": expression,
            "nominal_time": format_instant(nominal),
            "timezone": timezone,
            "instant": instant,
        })  # fmt: skip
    else:
        print(instant)
