"""The list of known client failures is whole, and each has a test of its name."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IDS = [f"C{number:02}" for number in range(1, 42)]

PAGE = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^\| (C\d\d) \|(.*)$", PAGE, re.MULTILINE))


def ids_with_a_test() -> set[str]:
    names = [
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def test_((?:c\d\d_)+)", file.read_text(encoding="utf-8"))
    ]
    return {part.upper() for name in names for part in name.split("_") if part}


def test_the_page_lists_every_failure_once() -> None:
    assert list(LINES) == IDS


@pytest.mark.parametrize("ident", IDS)
def test_each_failure_has_a_test_of_its_name(ident: str) -> None:
    assert ident in ids_with_a_test()


@pytest.mark.parametrize("sample", ["deploy/nginx.conf", "deploy/Caddyfile"])
def test_c36_the_proxy_samples_pass_every_address_unchanged(sample: str) -> None:
    lines = (ROOT / sample).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.partition("#")[0] for line in lines)
    assert "127.0.0.1:8787" in text
    for word in ("rewrite", "/mcp", "handle_path", "uri strip"):
        assert word not in text
    if sample.endswith("nginx.conf"):
        assert re.findall(r"location (\S+)", text) == ["/"]
        assert re.search(r"proxy_pass http://127\.0\.0\.1:8787;", text)  # no path: none is cut
        assert "proxy_buffering off" in text
    else:
        assert "flush_interval -1" in text
