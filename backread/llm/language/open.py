"""Opens the language model that the settings name, if they name one."""

from pkgutil import resolve_name

from backread.llm.language.ledger import Ledger
from backread.llm.language.model import LanguageModel
from backread.settings import Settings


def open_language_model(settings: Settings, ledger: Ledger) -> LanguageModel | None:
    """None when `settings.llm_model` is empty. Asks nobody yet. Raises InvalidInput."""
    if not settings.llm_model:
        return None
    # By name: the client's library takes a second to import, and most processes need none.
    connect = resolve_name("backread.llm.language.openai_compatible:OpenAICompatibleModel")
    model: LanguageModel = connect(settings, ledger)
    return model
