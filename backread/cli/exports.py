"""`backread export`: everything of an account as one file."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json
from backread.errors import BackreadError, Conflict

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel
    from ingest.own_archive.writing import Counts


def add_commands(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the archive (zip).")],
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.")
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Write everything that is kept into one archive.

    It holds every conversation as it came and as Markdown to read, and all memories, notes,
    folders and files. Another Backread imports it without loss. Works with and without a
    running server.
    """
    target = file.expanduser().absolute()
    if target.is_dir():
        raise BackreadError(f"{target} is a folder.", hint="Name the file, such as backread.zip.")
    if target.exists() and not force:
        raise Conflict(f"{target} is there already.", hint="Name another file, or add --force.")
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        if not as_json:
            note("Writing …")
        counts, size = _write(kernel, principal, target)
    told = {
        "file": str(target),
        "bytes": size,
        "conversations": counts.conversations,
        "captures": counts.kinds["capture"],
        "memories": counts.kinds["memory"],
        "note_revisions": counts.kinds["note_revision"],
        "folders": counts.kinds["folder"],
        "records": counts.kinds["folder_record"],
        "files": counts.kinds["file"],
    }
    if as_json:
        print_json(told)
        return
    typer.echo(
        f"{target}: {counted(counts.conversations, 'conversation')} "
        f"({counted(counts.kinds['capture'], 'capture')}), "
        f"{counted(counts.kinds['memory'], 'memory')}, "
        f"{counted(counts.kinds['note_revision'], 'revision')} of notes, "
        f"{counted(counts.kinds['folder_record'], 'record')}, "
        f"{counted(counts.kinds['file'], 'file')}, {size / 1024**2:,.1f} MB."
    )


def _write(kernel: "Kernel", principal: "Principal", target: Path) -> "tuple[Counts, int]":
    """Writes beside the target and puts it in place when it is whole, so that a file of that name
    is never half an archive. Nobody but its owner may read it."""
    from ingest.own_archive.writing import ArchiveWriter

    writer = ArchiveWriter(kernel, principal)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            for piece in writer.pieces():
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        size = partial.stat().st_size
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return writer.counts, size
