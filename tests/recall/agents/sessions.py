"""Writes session files of Claude Code with invented work in them, and imports them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from backread.domain import Principal
from backread.kernel import Kernel
from recall.agents.updating import read_all_sessions
from tests.ingest.exports import import_files

MORNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Turn = str | tuple[str, str, Sequence[tuple[str, dict[str, Any]]]]


def said(text: str) -> str:
    """What the person writes."""
    return text


def done(text: str, *calls: tuple[str, dict[str, Any]]) -> tuple[str, str, Any]:
    """What the agent answers, and the tools it calls."""
    return ("assistant", text, calls)


def session_file(path: Path, name: str, folder: str, day: int, *turns: Turn) -> Path:
    """One session's lines."""
    lines, parent = [], None
    for number, turn in enumerate(turns):
        moment = MORNING + timedelta(days=day, minutes=number)
        uuid = f"{name}-{number}"
        if isinstance(turn, str):
            message: dict[str, Any] = {"role": "user", "content": turn}
        else:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": turn[1]}]
            blocks += [
                {"type": "tool_use", "id": f"{uuid}-{place}", "name": tool, "input": given}
                for place, (tool, given) in enumerate(turn[2])
            ]
            message = {"id": f"msg-{uuid}", "role": "assistant", "content": blocks}
        lines.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "cwd": folder,
                "sessionId": name,
                "type": message["role"],
                "message": message,
                "uuid": uuid,
                "timestamp": moment.isoformat().replace("+00:00", "Z"),
            }
        )
        parent = uuid
    file = path / f"{name}.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


def loom_sessions(path: Path) -> list[Path]:
    """Two sessions of one project, and one of another whose folder has the same parent."""
    first = session_file(
        path,
        "s-one",
        "/home/ada/loom",
        0,
        said("The `JwtSigner` fails on expiry. Always run the tests before committing."),
        done(
            "I read the signer. Let's use `jose` instead of jsonwebtoken for the JwtSigner.",
            ("Read", {"file_path": "/home/ada/loom/src/signer.ts"}),
            ("Read", {"file_path": "/home/ada/loom/src/signer.ts"}),
            ("Read", {"file_path": "/home/ada/loom/README.md"}),
            (
                "Edit",
                {
                    "file_path": "/home/ada/loom/src/signer.ts",
                    "old_string": "x",
                    "new_string": "import { sign } from 'jose'",
                },
            ),
            ("Bash", {"command": "cd /home/ada/loom && npm test"}),
        ),
        said("Good. Boris said the JwtSigner must never log tokens."),
        done("Done.", ("Bash", {"command": "git commit -m 'Use jose'"})),
    )
    second = session_file(
        path,
        "s-two",
        "/home/ada/loom",
        1,
        said("Add a refresh route to the JwtSigner. Always run the tests before committing!"),
        done(
            "Added.",
            ("Write", {"file_path": "/home/ada/loom/src/refresh.ts", "content": "export {}"}),
            ("Edit", {"file_path": "/home/ada/loom/src/signer.ts", "new_string": "y"}),
            ("Bash", {"command": "npm test -- --silent"}),
        ),
    )
    other = session_file(
        path,
        "s-three",
        "/home/ada/kiln",
        2,
        said("Write the firing schedule."),
        done("Here.", ("Write", {"file_path": "/home/ada/kiln/plan.md", "content": "# Plan"})),
    )
    return [first, second, other]


def bring_sessions(kernel: Kernel, principal: Principal, folder: Path) -> None:
    """Imports the sessions, and reads them as the job does."""
    folder.mkdir()
    for file in loom_sessions(folder):
        import_files(kernel, principal, file)
    read_all_sessions(kernel, principal.account_id)
