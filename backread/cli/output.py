"""What commands print: results on stdout, everything about them on stderr."""

import json
from typing import Annotated, Any

import typer

from backread.errors import BackreadError

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for programs to read.")
]
AccountOption = Annotated[
    str, typer.Option("--account", metavar="EMAIL", help="Whose data, if there are several.")
]


def print_json(value: Any) -> None:
    """One object on one line of stdout, in UTF-8 whatever the terminal is set to."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    typer.echo(text.encode("utf-8") + b"\n", nl=False)


def show_error(error: BackreadError, *, as_json: bool) -> None:
    """On stderr for people; as `{"error": …}` on stdout for programs."""
    if as_json:
        details = {"code": error.code, "message": error.message, "hint": error.hint}
        print_json({"error": details})
        return
    typer.secho(f"Error: {error.message}", fg="red", err=True)
    if error.hint:
        typer.echo(error.hint, err=True)


def counted(value: int, one: str) -> str:
    """A number with its noun, such as "1 memory" and "1,200 memories"."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{value:,} {one if value == 1 else many}"


def note(text: str) -> None:
    """A line for people beside the result."""
    typer.echo(text, err=True)
