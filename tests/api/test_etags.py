import pytest

from api.etags import ANY, etag_of, expected_version, names_version
from backread.errors import InvalidInput


@pytest.mark.parametrize(
    ("header", "version"),
    [("", None), ("  ", None), ("*", ANY), (' "7" ', "7"), (etag_of("a-b"), "a-b"), ('""', "-")],
)
def test_one_strong_tag_names_a_version(header: str, version: str | None) -> None:
    assert expected_version(header) == version


@pytest.mark.parametrize("header", ["7", 'W/"7"', '"7", "8"', '"7', "'7'"])
def test_what_is_not_one_strong_tag_is_refused(header: str) -> None:
    with pytest.raises(InvalidInput, match="ETag"):
        expected_version(header)


@pytest.mark.parametrize(
    ("header", "is_named"),
    [
        ("", False),
        ("*", True),
        ('"7"', True),
        ('W/"7"', True),
        ('"6", "7"', True),
        ('"77"', False),
        ("7", False),
    ],
)
def test_a_version_is_named_alone_or_in_a_list(header: str, is_named: bool) -> None:
    assert names_version(header, 7) is is_named
