"""`backread eval`."""

from typing import Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, print_json
from backread.errors import InvalidInput


def add_commands(app: typer.Typer) -> None:
    app.command("eval")(evaluate)


def evaluate(
    questions: Annotated[
        int, typer.Option("--questions", help="How many questions to make: 5 to 1000.")
    ] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Another number makes other questions.")] = 1,
    mode: Annotated[str, typer.Option("--mode", help="speed or quality.")] = "speed",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Measure recall on your own chats: what is found, how fast, and when it says "not found"."""
    from recall.evaluation.measuring import evaluate as measure

    if mode not in {"speed", "quality"}:
        raise InvalidInput("`mode` must be speed or quality.")
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        result = measure(
            kernel,
            principal,
            questions=questions,
            seed=seed,
            mode="quality" if mode == "quality" else "speed",
        )
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        typer.echo(result.text)
