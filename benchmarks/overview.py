"""How long the overview takes to be made and to be read, on synthetic chats.

    python -m benchmarks.overview --megabytes 20 --model hashing

For each size: processor seconds for reading all conversations into digests and making the portrait,
for taking in one changed conversation, for reading the overview, its length in tokens, and the
memory of the process at most while it was made (Linux; the import before it is not counted).
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from backread.cli.job_modules import load_jobs
from backread.domain import Principal, Scope
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.migrate import upgrade
from backread.store.models import Account, Conversation
from backread.store.repositories.overview import count_to_digest, forget_overview
from backread.tokens import estimate_tokens
from benchmarks.synthetic_archive import write_archive
from ingest.accept import RUN_JOB, SourceFile, accept_files
from recall.overview.digests import digests_made_with
from recall.overview.reading import chat_history_overview
from recall.overview.updating import refresh_overview


def measure(megabytes: int, model: str, folder: Path) -> None:
    archive = folder / "export.zip"
    write_archive(archive, "chatgpt", megabytes * 1_000_000)
    kernel = Kernel(Settings(home=folder / "home", embedding_model=model, client_documents="off"))
    upgrade(kernel.store)
    with kernel.store.write() as session:
        account = Account(email="ada@example.org", password_hash="unused", role="owner")
        session.add(account)
        session.flush()
        principal = Principal(account.id, scopes=frozenset(Scope))
        source = SourceFile(archive.name, archive, archive.stat().st_size)
        accept_files(session, principal, [source], route="cli")
    run_pending(kernel, names=[RUN_JOB])
    account_id = principal.account_id
    with kernel.store.write() as session:
        forget_overview(session, account_id)
    with kernel.store.read() as session:
        conversations = count_to_digest(session, account_id, digests_made_with(kernel))
    kernel.embedder.embed_passages(["warm up"])
    forget_peak()
    made = spent(lambda: refresh_overview(kernel, account_id))
    memory = peak_megabytes()
    with kernel.store.write() as session:
        first = session.scalars(select(Conversation).limit(1)).one()
        first.changed_at = utcnow()
    again = spent(lambda: refresh_overview(kernel, account_id))
    read = spent(lambda: chat_history_overview(kernel, principal))
    found = chat_history_overview(kernel, principal)
    print(
        f"| {conversations:,} / {found.inventory.messages:,} | {made:.1f} | {again:.2f} | "
        f"{read:.2f} | {estimate_tokens(found.text):,} | {memory:.0f} |",
        flush=True,
    )
    kernel.close()


def spent(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, nargs="+", default=[20])
    parser.add_argument("--model", default="minilm", help="as BACKREAD_EMBEDDING_MODEL")
    options = parser.parse_args()
    load_jobs()
    print(
        "| conversations / messages | made | one changed | read | tokens | peak MB |\n"
        "|---|---|---|---|---|---|"
    )
    for megabytes in options.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            measure(megabytes, options.model, Path(folder))


if __name__ == "__main__":
    main()
