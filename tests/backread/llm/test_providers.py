import pytest

from backread.errors import Unavailable
from backread.llm.providers import CPU, Wanted, check_provider, choose_providers

CUDA, COREML = "CUDAExecutionProvider", "CoreMLExecutionProvider"
LINUX = ["AzureExecutionProvider", CPU]
LINUX_GPU = ["TensorrtExecutionProvider", CUDA, CPU]
MAC = [COREML, "AzureExecutionProvider", CPU]


@pytest.mark.parametrize(
    ("wanted", "available", "chosen"),
    [
        ("auto", LINUX, [CPU]),
        ("auto", LINUX_GPU, [CUDA, CPU]),
        ("auto", MAC, [COREML, CPU]),
        ("cpu", LINUX_GPU, [CPU]),
        ("cuda", LINUX_GPU, [CUDA, CPU]),
        ("coreml", MAC, [COREML, CPU]),
    ],
)
def test_a_graphics_card_is_used_where_it_can_be_and_is_wanted(
    wanted: Wanted, available: list[str], chosen: list[str]
) -> None:
    assert choose_providers(wanted, available) == chosen


@pytest.mark.parametrize("wanted", ["cuda", "coreml"])
def test_insisting_on_what_is_not_there_says_what_to_install(wanted: Wanted) -> None:
    with pytest.raises(Unavailable, match=wanted) as refused:
        choose_providers(wanted, LINUX)
    assert "onnxruntime" in refused.value.hint
    assert "BACKREAD_EMBEDDING_PROVIDER" in refused.value.hint


def test_a_card_that_did_not_start_is_no_silent_way_back_to_the_cpu() -> None:
    check_provider("cuda", [CUDA, CPU])
    check_provider("auto", [CPU])
    with pytest.raises(Unavailable, match="could not start it"):
        check_provider("cuda", [CPU])
