"""Twenty invented chats in nine languages, each with a summary that a person would write."""

from dataclasses import dataclass
from pathlib import Path

from backread.domain import Role

FOLDER = Path(__file__).parent / "chats"


@dataclass(frozen=True, slots=True)
class Turn:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class SummarisedChat:
    title: str
    turns: list[Turn]
    reference: list[str]


def read_chats() -> list[SummarisedChat]:
    """In the order of the files: `# title`, then lines of `U:`, `A:` and, of the reference, `=`."""
    chats: list[SummarisedChat] = []
    for file in sorted(FOLDER.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            mark, _, text = line.partition(" ")
            if mark == "#":
                chats.append(SummarisedChat(text, [], []))
            elif mark in {"U:", "A:"}:
                role = Role.USER if mark == "U:" else Role.ASSISTANT
                chats[-1].turns.append(Turn(role, text))
            elif mark == "=":
                chats[-1].reference.append(text)
            elif line.strip():
                raise ValueError(f"{file.name}: {line!r} has no mark")
    return chats
