"""`backread recall` and `backread search`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, print_json
from backread.errors import InvalidInput

if TYPE_CHECKING:
    from recall.history import RecallResult

After = Annotated[
    str, typer.Option("--after", metavar="DATE", help="Not before this day or moment (ISO 8601).")
]
Before = Annotated[
    str, typer.Option("--before", metavar="DATE", help="Not after this day or moment (ISO 8601).")
]
Mode = Annotated[str, typer.Option("--mode", help="speed or quality.")]
Platform = Annotated[
    str, typer.Option("--platform", help="Only chats of this one, for example chatgpt.")
]


def add_commands(app: typer.Typer) -> None:
    app.command("recall")(recall)
    app.command("search")(search)


def recall(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY…", help="One question, or up to 15 at once.")
    ],
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", help="Length of each answer: 600 if not given, at most 2000."),
    ] = None,
    after: After = "",
    before: Before = "",
    mode: Mode = "",
    platform: Platform = "",
    context: Annotated[
        str, typer.Option("--context", help="What the present conversation is about.")
    ] = "",
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="JSON list of {role, content}: the present dialogue so far.",
        ),
    ] = None,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Ask what past chats say. Each answer cites the conversations it comes from."""
    from recall.history import RecallQuery, RecallRequest, recall_chat_history

    options: dict[str, Any] = {
        "max_tokens": max_tokens,
        "after": after or None,
        "before": before or None,
        "mode": mode or None,
        "platform": platform or None,
        "conversation_context": context or None,
        "conversation_history": _read_history(history) if history else None,
    }
    if len(queries) == 1:
        request = _checked(RecallRequest, options | {"query": queries[0]})
    else:
        each = [RecallQuery(query=query) for query in queries]
        request = _checked(RecallRequest, options | {"queries": each})
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        result = recall_chat_history(kernel, principal, request)
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        _print_answers(result)


def search(
    query: Annotated[
        str, typer.Argument(help='Words to find; "a phrase" exactly, -word not at all.')
    ],
    limit: Annotated[int, typer.Option("--limit", min=1, help="Results at most.")] = 20,
    after: After = "",
    before: Before = "",
    mode: Mode = "speed",
    platform: Platform = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Find messages by their words and their meaning."""
    from recall.search import SearchQuery
    from recall.search import search as find

    options: dict[str, Any] = {
        "text": query,
        "limit": limit,
        "after": after or None,
        "before": before or None,
        "mode": mode,
        "platform": platform or None,
    }
    wanted = _checked(SearchQuery, options)
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        result = find(kernel, principal, wanted)
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        typer.echo(result.text)


def _checked(model: Any, values: dict[str, Any]) -> Any:
    from pydantic import ValidationError

    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = " ".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{where}: {first['msg']}.") from error


def _read_history(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not JSON.", hint='It looks like [{"role": "user", "content": "…"}].'
        ) from error


def _print_answers(result: "RecallResult") -> None:
    for answer in result.answers:
        if len(result.answers) > 1:
            typer.secho(answer.query, bold=True)
        typer.echo(answer.summary + "\n")
    for source in result.sources:
        typer.secho(f"[{source.number}] {source.title}", bold=True)
        dates = sorted(
            {f"{at:%Y-%m-%d}" for at in (source.first_message_at, source.last_message_at) if at}
        )
        typer.echo("    " + " · ".join([source.platform, " to ".join(dates) or "no date"]))
        typer.echo(f"    {source.reader_url}")
        if source.original_url:
            typer.echo(f"    {source.original_url}")
