import pytest

from backread.telemetry.spans import span


def test_an_attribute_that_is_not_on_the_list_is_refused() -> None:
    with pytest.raises(ValueError, match="query"), span("job", query="what I asked"):
        pass
