"""`backread folders …`: record folders and their access keys."""

from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel
    from backread.store.models import Folder

folders = typer.Typer(no_args_is_help=True, help="Manage record folders and their keys.")

NameArgument = Annotated[str, typer.Argument(help="The folder's name or id.")]


def add_commands(app: typer.Typer) -> None:
    app.add_typer(folders, name="folders")


@folders.callback()
def _folders() -> None:
    """Manage record folders and their keys."""


@folders.command("list")
def list_folders(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show the folders, and how many records each holds."""
    from recall.folders.catalogue import list_folders as all_folders

    with open_kernel(load_settings()) as kernel, kernel.store.read() as session:
        found = all_folders(session, find_principal(kernel, account))
    listed = [
        {
            "id": each.folder.id,
            "name": each.folder.name,
            "records": each.records,
            "generate_embeddings": each.folder.generate_embeddings,
        }
        for each in found
    ]
    if as_json:
        print_json({"folders": listed})
        return
    for each in found:
        typer.echo(f"{each.folder.id}  {each.folder.name}  {counted(each.records, 'record')}")


@folders.command("create")
def create(
    name: Annotated[str, typer.Argument(help="The new folder's name.")],
    no_embeddings: Annotated[
        bool, typer.Option("--no-embeddings", help="Find records by name and metadata only.")
    ] = False,
    description: Annotated[
        str, typer.Option("--description", help="Put before every text that is embedded.")
    ] = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a folder."""
    from recall.folders.catalogue import create_folder

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.write() as session:
            folder = create_folder(
                session,
                principal,
                name,
                generate_embeddings=not no_embeddings,
                vector_description=description,
            )
    if as_json:
        print_json({"id": folder.id, "name": folder.name})
    else:
        typer.echo(f"Made {folder.name} ({folder.id}).")


@folders.command("delete")
def delete(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete a folder with its records, their history and its keys, for good."""
    from backread.errors import InvalidInput
    from recall.folders.catalogue import delete_folder

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        folder = _find(kernel, principal, name)
        if not yes:
            if as_json:
                raise InvalidInput("This deletes a folder for good.", hint="Add --yes to do it.")
            typer.confirm(f"Delete {folder.name} and all that is in it?", abort=True, err=True)
        count = delete_folder(kernel, principal, folder.id, name=folder.name)
    if as_json:
        print_json({"id": folder.id, "records": count})
    else:
        typer.echo(f"Deleted {folder.name} with {counted(count, 'record')}.")


@folders.command("keys")
def list_keys(name: NameArgument, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show a folder's keys, without their text."""
    from backread.store.repositories.folders import keys_of

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        folder = _find(kernel, principal, name)
        with kernel.store.read() as session:
            found = keys_of(session, principal.account_id, folder.id)
    listed = [
        {
            "id": row.id,
            "name": row.name,
            "read_only": row.is_read_only,
            "expires_at": row.expires_at.isoformat() if row.expires_at else None,
            "last_used_at": row.last_used_at.isoformat() if row.last_used_at else None,
        }
        for row in found
    ]
    if as_json:
        print_json({"keys": listed})
        return
    for row in found:
        used = f"used {row.last_used_at:%Y-%m-%d}" if row.last_used_at else "never used"
        typer.echo(f"{row.id}  {row.name}  {used}{'  read-only' if row.is_read_only else ''}")


@folders.command("create-key")
def create_key(
    name: NameArgument,
    key_name: Annotated[str, typer.Option("--for", help="The agent or machine that gets it.")],
    read_only: Annotated[bool, typer.Option("--read-only", help="It may not write.")] = False,
    days: Annotated[int | None, typer.Option("--days", help="How long it lasts.")] = None,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an access key for a folder and print it, once."""
    from api.oauth.resources import FOLDER_PATH
    from recall.folders.keys import make_key

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        folder = _find(kernel, principal, name)
        address = kernel.settings.origin + FOLDER_PATH
        with kernel.store.write() as session:
            row, key = make_key(
                session, principal, folder.id, name=key_name, is_read_only=read_only, days=days
            )
    if as_json:
        print_json({"id": row.id, "key": key, "url": address})
        return
    note(f"Opens {folder.name} at {address}; shown only now:")
    typer.echo(key)


@folders.command("revoke-key")
def revoke_key(
    name: NameArgument,
    key_id: Annotated[str, typer.Argument(help="The key's id, from `backread folders keys`.")],
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """End a key, at once."""
    from recall.folders.keys import revoke_key as end_key

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        folder = _find(kernel, principal, name)
        with kernel.store.write() as session:
            end_key(session, principal, folder.id, key_id)
    if as_json:
        print_json({"id": key_id, "state": "revoked"})
    else:
        typer.echo("Revoked.")


def _find(kernel: "Kernel", principal: "Principal", name: str) -> "Folder":
    from backread.errors import NotFound
    from backread.store.repositories.folders import find_folder, find_folder_named

    with kernel.store.read() as session:
        account_id = principal.account_id
        found = find_folder_named(session, account_id, name) or find_folder(
            session, account_id, name
        )
    if found is None:
        raise NotFound(f"There is no folder “{name}”.", hint="See backread folders list.")
    return found
