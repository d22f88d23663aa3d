import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backread.errors import InvalidInput
from backread.notes.paths import MAX_BYTES, MAX_PARTS, folder_path, note_path

names = st.text(st.sampled_from("abÄé日 -_.:#\u200d\u0301"), min_size=1, max_size=8)
anything = st.one_of(
    st.text(max_size=40),
    st.lists(st.one_of(names, st.sampled_from(["..", ".", "", ".git", "git~1", "x.md"]))).map(
        "/".join
    ),
).map(lambda text: text + ".md")


@given(anything)
def test_what_is_taken_is_safe_on_every_file_system_and_in_its_normal_form(text: str) -> None:
    try:
        path = note_path(text)
    except InvalidInput:
        return
    assert path == note_path(path) == unicodedata.normalize("NFC", text)
    assert len(path.encode()) <= MAX_BYTES
    parts = path.split("/")
    assert len(parts) <= MAX_PARTS
    for part in parts:
        assert part
        assert not part.startswith((".", " "))
        assert not part.endswith((" ", "."))
        assert not any(unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} for each in part)
        assert "\\" not in part
        assert part.casefold() != "git~1"
    assert not any(part.lower().endswith(".md") for part in parts[:-1])


@given(st.lists(st.sampled_from(["work", "tasks", "Ä", "日記"]), min_size=1, max_size=5))
def test_plain_paths_are_taken_and_their_folder_with_or_without_a_slash(parts: list[str]) -> None:
    folder = "/".join(parts)
    assert note_path(f"{folder}/a.md") == f"{folder}/a.md"
    assert folder_path(folder) == folder_path(f"{folder}/") == folder


@pytest.mark.parametrize("text", ["", " ", "/work", "a//b", "../a", "a/.git", "a.md", "a\\b"])
def test_folders_keep_to_the_same_rules(text: str) -> None:
    if not text.strip():
        assert folder_path(text) == ""
        return
    with pytest.raises(InvalidInput):
        folder_path(text)


@pytest.mark.parametrize(
    "path", ["\u200c.git/a.md", ".g\u200cit/a.md", "a\u202egpj.md", "GIT~1/a.md"]
)
def test_disguises_of_git_and_of_the_reading_direction_are_refused(path: str) -> None:
    with pytest.raises(InvalidInput):
        note_path(path)
