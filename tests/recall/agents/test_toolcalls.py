import json
from typing import Any

import pytest

from recall.agents.toolcalls import FileUse, Use, command_of, file_uses, imports_in, programs_in

PATCH = "*** Begin Patch\n*** Update File: internal/x.go\n*** Add File: n.py\n+x\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "given", "used"),
    [
        ("Read", {"file_path": "/p/src/a.ts"}, [("src/a.ts", "read")]),
        ("read_file", {"path": "./b.ts"}, [("b.ts", "read")]),
        ("copilot_readFile", {"filePath": "file:///p/c.ts"}, [("c.ts", "read")]),
        ("MultiEdit", {"file_path": "C:\\w\\d.cs"}, [("C:/w/d.cs", "write")]),
        ("NotebookEdit", {"notebook_path": "/q/e.ipynb"}, [("/q/e.ipynb", "write")]),
        ("apply_patch", {"patch": PATCH}, [("internal/x.go", "write"), ("n.py", "write")]),
        (
            "shell",
            {"command": ["bash", "-lc", f"apply_patch <<'E'\n{PATCH}\nE"]},
            [("internal/x.go", "write"), ("n.py", "write")],
        ),
        ("exec_command", {"cmd": "sed -n 1,20p src/f.go | head -3"}, [("src/f.go", "read")]),
        ("Bash", {"command": "cat notes.md && rm notes.md"}, [("notes.md", "read")]),
        ("Grep", {"pattern": "x", "path": "/p"}, []),
        ("Glob", {"pattern": "**/*.py", "path": "/p"}, []),
        ("TodoWrite", {"todos": [{"content": "x"}]}, []),
        ("WebFetch", {"url": "https://example.org/read.html"}, []),
        ("Read", {"file_path": ""}, []),
        ("Read", {"file_path": "x" * 400}, []),
        ("", {"file_path": "/p/a"}, []),
    ],
)
def test_files_are_told_from_the_calls_of_every_agent(
    tool: str, given: dict[str, Any], used: list[tuple[str, str]]
) -> None:
    found = list(file_uses(tool, json.dumps(given), "/p"))
    assert found == [FileUse(path, Use(use)) for path, use in used]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Read [](file:///p/src/a%20b.ts#1-1), lines 1 to 50", "src/a b.ts"),
        ("Read [a.ts](file:///p/a.ts) and [](file:///p/a.ts#7-7)", "a.ts"),
    ],
)
def test_a_file_that_an_editor_links_to_is_read(text: str, path: str) -> None:
    assert list(file_uses("copilot_readFile", text, "/p")) == [FileUse(path, Use.READ)]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1]", "null", '{"file_path": 7}', "Read a.go", '{"a":' * 20_000, "]( file://" * 9],
)
def test_a_call_that_cannot_be_read_names_no_file(text: str) -> None:
    assert list(file_uses("Read", text, "/p")) == []


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("cd x && npm test -- --silent; git commit -m 'a b'", ["npm test", "git commit"]),
        ("python -m pytest -q tests", ["python -m pytest"]),
        ("CI=1 sudo docker compose up -d", ["docker compose"]),
        ("npx vitest run", ["vitest"]),
        ("/usr/bin/make -j4 all | tee log", ["make all", "tee"]),
        ("echo 'unclosed", []),
    ],
)
def test_commands_are_called_as_people_call_them(command: str, programs: list[str]) -> None:
    assert list(programs_in(command)) == programs
    assert command_of("Bash", json.dumps({"command": command})) == command


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import os\nfrom a.b import c\n", ["os", "a.b"]),
        ("import { x } from '@scope/pkg'\nconst y = require('fs')", ["@scope/pkg", "fs"]),
        ("use serde::Deserialize;", ["serde"]),
        ("this is from the start", []),
    ],
)
def test_imports_of_written_code_are_found(code: str, modules: list[str]) -> None:
    text = json.dumps({"file_path": "a", "content": code})
    assert list(imports_in("Write", text)) == modules
    assert list(imports_in("Read", text)) == []
