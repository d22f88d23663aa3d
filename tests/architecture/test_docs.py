"""Docs that are wrong or silent fail the build."""

import re
from pathlib import Path

import pytest

from api.app import create_app
from api.folder_server.tools import TOOLS as FOLDER_TOOLS
from api.mcp_server.tools import TOOLS
from api.notes_server.tools import CONTRACT_TOOLS, FURTHER_TOOLS
from backread.domain import Platform
from backread.settings import Settings
from ingest.importers import IMPORTERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_is_documented(name: str) -> None:
    assert f"`BACKREAD_{name.upper()}`" in text_of("settings.md")


def test_no_setting_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(r"^\| `BACKREAD_([A-Z_]+)`", text_of("settings.md"), re.MULTILINE))
    assert documented == {name.upper() for name in Settings.model_fields}


def test_every_tool_is_documented_with_its_parameters() -> None:
    tools = text_of("tools.md")
    for tool in TOOLS:
        assert f"## {tool.name}\n" in tools
        section = tools.split(f"## {tool.name}\n", 1)[1].split("\n## ", 1)[0]
        assert f"`{tool.scope.value}`" in section, tool.name
        for name in tool.definition().input_schema.get("properties", {}):
            assert f"`{name}`" in section, (tool.name, name)


def test_every_tool_of_the_folder_server_is_documented_with_its_parameters() -> None:
    tools = text_of("tools.md").split("# Folder tools\n", 1)[1]
    for tool in FOLDER_TOOLS:
        section = tools.split(f"## {tool.name}\n", 1)[1].split("\n## ", 1)[0]
        for name in tool.definition().input_schema.get("properties", {}):
            assert f"`{name}`" in section, (tool.name, name)


def test_every_tool_of_the_notes_server_is_documented_with_its_parameters() -> None:
    tools = text_of("tools.md").split("# Notes\n", 1)[1]
    for tool in CONTRACT_TOOLS + FURTHER_TOOLS:
        section = tools.split(f"## {tool.name}\n", 1)[1].split("\n## ", 1)[0]
        assert f"`{tool.scope.value}`" in section, tool.name
        for name in tool.definition().input_schema.get("properties", {}):
            assert f"`{name}`" in section, (tool.name, name)


def test_every_route_is_documented(tmp_path: Path) -> None:
    routes = text_of("routes.md")
    app = create_app(Settings(home=tmp_path, embedding_model="hashing"))
    for path in app.openapi()["paths"]:
        assert f"`{path}`" in routes, path


@pytest.mark.parametrize("platform", list(Platform))
def test_every_platform_has_importer_fixture_test_and_docs_line(platform: Platform) -> None:
    assert platform.value in IMPORTERS
    assert any((ROOT / "tests" / "fixtures" / "exports" / platform).iterdir())
    assert (ROOT / "tests" / "ingest" / "importers" / f"test_{platform}.py").is_file()
    assert f"`{platform}`" in text_of("guides/import.md")


LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize(
    "page", [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
