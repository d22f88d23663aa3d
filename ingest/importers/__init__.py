"""The formats that can be imported: the explicit list, and the way to find one's importer."""

from typing import Any

from backread.domain import Platform
from ingest.importers.base import Importer
from ingest.importers.character_ai import CHARACTER_AI
from ingest.importers.chatbotui import CHATBOTUI
from ingest.importers.chatgpt import CHATGPT
from ingest.importers.chatgpt_exporter import CHATGPT_EXPORTER
from ingest.importers.claude_ai import CLAUDE_AI
from ingest.importers.claude_code import CLAUDE_CODE
from ingest.importers.codex import CODEX
from ingest.importers.copilot_cli import COPILOT_CLI
from ingest.importers.cursor import CURSOR
from ingest.importers.deepseek import DEEPSEEK
from ingest.importers.gemini_aistudio import GEMINI_AISTUDIO
from ingest.importers.gemini_cli import GEMINI_CLI
from ingest.importers.gemini_takeout import GEMINI_TAKEOUT
from ingest.importers.grok import GROK
from ingest.importers.lechat import LECHAT
from ingest.importers.librechat import LIBRECHAT
from ingest.importers.ms_copilot import MS_COPILOT
from ingest.importers.openwebui import OPENWEBUI
from ingest.importers.perplexity import PERPLEXITY
from ingest.importers.poe import POE
from ingest.importers.sillytavern import SILLYTAVERN
from ingest.importers.transcript import TRANSCRIPT
from ingest.importers.typingmind import TYPINGMIND
from ingest.importers.vscode_copilot import VSCODE_COPILOT

IMPORTERS: dict[str, Importer] = {
    Platform.CHATGPT.value: CHATGPT,
    Platform.CLAUDE_AI.value: CLAUDE_AI,
    Platform.CLAUDE_CODE.value: CLAUDE_CODE,
    Platform.CODEX.value: CODEX,
    Platform.DEEPSEEK.value: DEEPSEEK,
    Platform.GROK.value: GROK,
    Platform.GEMINI_TAKEOUT.value: GEMINI_TAKEOUT,
    Platform.LECHAT.value: LECHAT,
    Platform.OPENWEBUI.value: OPENWEBUI,
    Platform.LIBRECHAT.value: LIBRECHAT,
    Platform.TYPINGMIND.value: TYPINGMIND,
    Platform.CHATBOTUI.value: CHATBOTUI,
    Platform.CHATGPT_EXPORTER.value: CHATGPT_EXPORTER,
    Platform.GEMINI_CLI.value: GEMINI_CLI,
    Platform.GEMINI_AISTUDIO.value: GEMINI_AISTUDIO,
    Platform.PERPLEXITY.value: PERPLEXITY,
    Platform.MS_COPILOT.value: MS_COPILOT,
    Platform.CHARACTER_AI.value: CHARACTER_AI,
    Platform.SILLYTAVERN.value: SILLYTAVERN,
    Platform.POE.value: POE,
    Platform.VSCODE_COPILOT.value: VSCODE_COPILOT,
    Platform.COPILOT_CLI.value: COPILOT_CLI,
    Platform.CURSOR.value: CURSOR,
    Platform.TRANSCRIPT.value: TRANSCRIPT,  # last: what no platform claims
}


def importer_for(raw: Any) -> Importer | None:
    """The importer whose structure `raw` has, whatever its file was called."""
    for importer in IMPORTERS.values():
        if importer.recognises(raw):
            return importer
    return None
