from pathlib import Path

from tests.backread.cli.conftest import Run, answer
from tests.exports import BOILER, GARDEN, write_chatgpt_zip


def test_the_overview_is_printed_and_made_anew_on_request(run: Run, tmp_path: Path) -> None:
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER])
    run("import", archive)
    printed = run("overview")
    assert printed.exit_code == 0, printed.output
    assert "# Inventory\n2 conversations" in printed.stdout
    again = answer(run("overview", "--refresh", "--json"))
    assert again["inventory"]["conversations"] == 2
    assert again["portrait"]["state"] == "ready"
    assert len(again["portrait"]["topics"]) == 2
