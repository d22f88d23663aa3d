"""`backread files`: documents that are searched by their pages."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backread.cli.context import find_principal, load_settings, open_kernel, select_principals
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json
from backread.errors import InvalidInput, NotFound, UnreadableImport

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel
    from backread.store.models import File, FileBucket

files = typer.Typer(
    no_args_is_help=True, help="Documents: add, list, search, read again and remove them."
)
_LISTED = 100_000


def add_commands(app: typer.Typer) -> None:
    app.add_typer(files, name="files")


@files.command("add")
def add(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Documents, or folders of them.")
    ],
    bucket: Annotated[
        str, typer.Option("--bucket", metavar="NAME", help="Where to; made when it is missing.")
    ] = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take documents in and read them. One of the same name in the bucket is replaced.

    Works with and without a running server.
    """
    from ingest.documents.keeping import keep_file

    chosen = [each for path in paths for each in _documents(path)]
    done: list[dict[str, Any]] = []
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        for name, path in chosen:
            try:
                kept = keep_file(kernel, principal, name=name, path=path, bucket_name=bucket)
            except InvalidInput as error:
                done.append({"name": name, "outcome": "refused", "problem": str(error)})
                continue
            done.append(asdict(kept))
        read_waiting(kernel, quiet=as_json)
        _add_states(kernel, principal, done)
    if as_json:
        print_json({"files": done})
    else:
        for each in done:
            _print_kept(each)
    if any(each["outcome"] == "refused" or each.get("state") == "failed" for each in done):
        raise typer.Exit(1)


def _documents(path: Path) -> list[tuple[str, Path]]:
    """The file, or those in the folder; with the names that they are kept under."""
    path = path.expanduser().absolute()
    if not path.exists():
        raise UnreadableImport(f"There is no file {path}.", hint="Check the name.")
    if path.is_file():
        return [(path.name, path)]
    inside = sorted(each for each in path.rglob("*") if each.is_file())
    named = [(each.relative_to(path.parent).as_posix(), each) for each in inside]
    return [(name, each) for name, each in named if not any(p[:1] == "." for p in name.split("/"))]


def read_waiting(kernel: "Kernel", *, quiet: bool) -> None:
    """Reads here what nobody else does; a running server reads it by itself."""
    from backread.indexing import embed_job
    from backread.jobs import run_pending
    from backread.supervisor.home import running_server
    from ingest.documents.keeping import READ_FILE
    from ingest.documents.projects import READ_DOCUMENTS

    if running_server(kernel.settings) is not None:
        if not quiet:
            note("The server is reading them.")
        return
    if not quiet:
        note("Reading …")
    run_pending(kernel, names=[READ_FILE, READ_DOCUMENTS, embed_job("files")])


def _add_states(kernel: "Kernel", principal: "Principal", done: list[dict[str, Any]]) -> None:
    from backread.store.repositories.files import find_file

    with kernel.store.read() as session:
        for each in done:
            if "file_id" in each:
                file = find_file(session, principal, each["file_id"])
                each |= {"state": file.state, "passages": file.passage_count}
                each["problem"] = f"{file.problem_text} {file.problem_hint}".strip()


def _print_kept(each: dict[str, Any]) -> None:
    state = each.get("state", "")
    read = f", {counted(each['passages'], 'passage')}" if state == "ready" else ""
    waits = ", waits to be read" if state in ("waiting", "reading") else ""
    typer.echo(f"{each['outcome']}: {each['name']}{read}{waits}")
    if each.get("problem"):
        typer.secho(f"  {each['problem']}", fg="red", err=True)


@files.command("list")
def list_all(
    bucket: Annotated[str, typer.Option("--bucket", metavar="NAME", help="Only this one.")] = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the documents with their state."""
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        rows = _listed(kernel, principal, bucket)
    if as_json:
        print_json({"files": [_as_json(file, of) for file, of in rows]})
        return
    if not rows:
        typer.echo("There are no files.")
    for file, of in rows:
        typer.echo(f"{file.id}  {file.state:8}  {of.name}  {file.name}  {file.size_bytes:,} bytes")
        if file.problem_text:
            typer.secho(f"  {file.problem_text} {file.problem_hint}", fg="red", err=True)


def _listed(
    kernel: "Kernel", principal: "Principal", bucket: str
) -> "list[tuple[File, FileBucket]]":
    from backread.store.repositories.file_buckets import bucket_by_name
    from backread.store.repositories.files import list_files

    with kernel.store.read() as session:
        found = bucket_by_name(session, principal.account_id, bucket) if bucket else None
        if bucket and found is None:
            raise NotFound(
                f"There is no file bucket {bucket}.", hint="backread files list shows all."
            )
        bucket_id = found.id if found else None
        return list_files(session, principal.account_id, bucket_id=bucket_id, limit=_LISTED)


def _as_json(file: "File", bucket: "FileBucket") -> dict[str, Any]:
    return {
        "id": file.id,
        "name": file.name,
        "bucket_id": bucket.id,
        "bucket": bucket.name,
        "state": file.state,
        "problem": file.problem,
        "kind": file.kind,
        "size_bytes": file.size_bytes,
        "pages": file.page_count,
        "passages": file.passage_count,
        "version": file.version,
        "sha256": file.sha256,
        "uploaded_at": file.uploaded_at,
    }


@files.command("remove")
def remove(
    names: Annotated[list[str], typer.Argument(metavar="FILE…", help="Names or ids.")],
    bucket: Annotated[str, typer.Option("--bucket", metavar="NAME", help="Where it is.")] = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete documents everywhere, and print the receipt."""
    from ingest.documents.keeping import remove_file

    receipts: list[dict[str, Any]] = []
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        rows = _listed(kernel, principal, bucket)
        for file_id in [_the_one(rows, name) for name in names]:
            receipts.append(asdict(remove_file(kernel, principal, file_id)))
    if as_json:
        print_json({"receipts": receipts})
        return
    for each in receipts:
        index = "and from the index" if each["index"] == "removed" else "the index follows"
        typer.echo(
            f"Deleted {', '.join(each['names'])}: {counted(each['originals'], 'original')}, "
            f"{counted(each['passages'], 'passage')}, {index}."
        )


def _the_one(rows: "list[tuple[File, FileBucket]]", name: str) -> str:
    """The id of the file that is meant. Raises NotFound and InvalidInput."""
    found = [file for file, _ in rows if name in (file.id, file.name)]
    if not found:
        raise NotFound(f"There is no file {name}.", hint="backread files list shows all.")
    if len(found) > 1:
        raise InvalidInput(
            f"Several buckets have a file {name}.", hint="Add --bucket, or give its id."
        )
    return found[0].id


@files.command("search")
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    top_k: Annotated[int, typer.Option("--top", min=1, max=20, help="Passages to show.")] = 5,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Find passages of documents by words and by meaning."""
    from recall.files.search import search_files

    with open_kernel(load_settings()) as kernel:
        result = search_files(kernel, find_principal(kernel, account), query, top_k=top_k)
    if as_json:
        print_json(result.model_dump(mode="json", by_alias=True))
        return
    for each in result.passages:
        typer.secho(f"{each.file_name}, {each.location}", bold=True)
        typer.echo(f"  {' '.join(each.text.split())[:400]}\n  {each.link}")
    if not result.found:
        typer.echo("Nothing found.")


@files.command("reread")
def reread(
    every: Annotated[
        bool, typer.Option("--all", help="Also those that the present release has read.")
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Read documents anew from their originals that an older release has read."""
    from ingest.documents.projects import reread_documents
    from ingest.documents.reading import reread_outdated

    done: list[dict[str, Any]] = []
    with open_kernel(load_settings()) as kernel:
        for principal in select_principals(kernel, account):
            count = reread_outdated(kernel, principal.account_id, every=every)
            texts = reread_documents(kernel, principal.account_id, every=every)
            done.append({"account_id": principal.account_id, "files": count, "documents": texts})
        read_waiting(kernel, quiet=as_json)
    if as_json:
        print_json({"accounts": done})
        return
    for each in done:
        typer.echo(
            f"Account {each['account_id']}: {counted(each['files'], 'file')} and "
            f"{counted(each['documents'], 'project document')} to read anew."
        )
