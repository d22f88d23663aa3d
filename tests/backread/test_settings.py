import pytest
from pydantic import ValidationError

from backread.settings import Settings


@pytest.mark.parametrize(
    "public_url",
    [
        "chat.example.org",
        "ftp://chat.example.org",
        "http://chat.example.org",
        "https://",
        "https://chat.example.org/app",
        "https://ada@chat.example.org",
        "https://chat.example.org:99999",
        "https://chat.example.org:port",
        "https://chat example.org",
        "https://chat.exa\tmple.org",
        "https://b\u00fccher.example",
    ],
)
def test_an_address_that_no_client_could_use_is_refused_at_start(public_url: str) -> None:
    with pytest.raises(ValidationError, match="public_url"):
        Settings(public_url=public_url)


def test_the_scheme_may_be_written_in_capitals_and_the_rest_stays_as_it_is() -> None:
    """Cookies are kept for https by it, and clients compare the rest letter for letter."""
    settings = Settings(public_url=" HTTPS://Chat.Example.org:443/ ")
    assert settings.origin == "https://Chat.Example.org:443"
