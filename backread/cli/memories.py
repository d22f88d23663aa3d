"""`backread memories`: what is remembered, from the command line."""

from typing import Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, print_json

Bucket = Annotated[
    int | None, typer.Option("--bucket", metavar="ID", help="Only this bucket; in this bucket.")
]


def add_commands(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Memories: list, add, forget, bring back.")
    group.command("list")(list_memories)
    group.command("add")(add)
    group.command("forget")(forget)
    group.command("undo")(undo)
    app.add_typer(group, name="memories")


def list_memories(
    query: Annotated[str, typer.Argument(help="What to look for; all when left out.")] = "",
    bucket: Bucket = None,
    count: Annotated[int, typer.Option("--count", min=1, help="How many.")] = 50,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """List memories, newest first, or the best matches."""
    from recall.memories import memories_and_buckets

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        result = memories_and_buckets(kernel, principal, bucket_id=bucket, count=count, query=query)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    for memory in result.memories:
        day = memory.created_at.strftime("%Y-%m-%d")
        former = " (former)" if memory.superseded_by else ""
        print(f"{memory.memory_id}  {day}  {memory.bucket_name}{former}\n    {memory.text}")
    if not result.memories:
        print("No memories.")


def add(
    text: Annotated[str, typer.Argument(help="One self-contained statement.")],
    bucket: Bucket = None,
    supersedes: Annotated[
        str, typer.Option("--supersedes", metavar="ID", help="A memory whose place it takes.")
    ] = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Keep a memory. One that is there already is not doubled."""
    from recall.memories import store_memory

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        result = store_memory(kernel, principal, text, bucket_id=bucket, supersedes=supersedes)
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        print(result.text)


def forget(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Memories to delete.")],
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete memories, all or none. The answer says how to have them back."""
    from recall.memories import forget_memories

    with open_kernel(load_settings()) as kernel:
        result = forget_memories(kernel, find_principal(kernel, account), ids)
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    many = "1 memory" if result.memory_count == 1 else f"{result.memory_count} memories"
    print(f"Deleted {many}. Until {result.undo_until:%Y-%m-%d} this brings it back:")
    print(f"  backread memories undo {result.undo_id}")


def undo(
    undo_id: Annotated[str, typer.Argument(metavar="ID", help="What forget gave.")],
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Bring back what one deletion took away."""
    from recall.memories import undo_forget

    with open_kernel(load_settings()) as kernel:
        result = undo_forget(kernel, find_principal(kernel, account), undo_id)
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        print(result.text)
