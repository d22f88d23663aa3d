"""Google AI Studio: prompts as it keeps them in Google Drive, one JSON object without an end to
its name."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, text_in, time_in
from ingest.importers.drafts import Draft, digest_id, in_a_line

_ROLES = {"user": Role.USER, "model": Role.ASSISTANT}
_FILES = (
    "driveDocument",
    "driveImage",
    "driveVideo",
    "driveAudio",
    "inlineFile",
    "inlineImage",
    "inlineAudio",
    "youtubeVideo",
)


class AiStudioImporter:
    """Guarantees: chunks in order; thoughts and code beside the answer that they led to; drafts
    that were not sent are left out."""

    slug = Platform.GEMINI_AISTUDIO.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        return isinstance(raw, dict) and isinstance(
            dict_in(raw.get("chunkedPrompt")).get("chunks"), list
        )

    def identify(self, raw: Raw) -> str:
        """The prompt's id; files from Drive have none and go by their first chunk."""
        if text_in(raw.get("id")):
            return text_in(raw.get("id"))
        for chunk in _chunks(raw):
            return f"first:{digest_id(str(chunk.get('createTime')), _text(chunk))}"
        return ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The prompt has no messages.")
        news: Counter[str] = Counter()
        settings = dict_in(raw.get("runSettings"))
        model = text_in(settings.get("model")).removeprefix("models/")
        thread = in_a_line(_drafts(raw, model, news))
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.GEMINI_AISTUDIO,
            external_id=external_id,
            title=text_in(raw.get("title"))
            or text_in(raw.get("displayName"))
            or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(raw.get("createTime")) or created_at,
            updated_at=time_in(raw.get("updateTime")) or updated_at,
            model=model,
            assistant_name="Gemini",
            news=dict(news),
            extra=_branches(raw),
        )


GEMINI_AISTUDIO = AiStudioImporter()


def _chunks(raw: Raw) -> list[dict[str, Any]]:
    return dicts_in(dict_in(raw.get("chunkedPrompt")).get("chunks"))


def _text(chunk: Raw) -> str:
    """`parts` repeat `text`, cut as it was streamed."""
    parts = dicts_in(chunk.get("parts"))
    joined = "".join(text_in(part.get("text")) for part in parts if part.get("thought") is not True)
    return text_in(chunk.get("text")) or joined


def _branches(raw: Raw) -> dict[str, Any]:
    """Other prompts that were branched off from this one, or that it was branched off from."""
    found = []
    for chunk in _chunks(raw):
        for link in [dict_in(chunk.get("branchParent")), *dicts_in(chunk.get("branchChildren"))]:
            prompt = text_in(link.get("promptId"))
            if prompt:
                found.append(prompt.removeprefix("prompts/"))
    return {"branches": found} if found else {}


def _drafts(raw: Raw, model: str, news: Counter[str]) -> Iterator[Draft]:
    system = dict_in(raw.get("systemInstruction"))
    instruction = Draft("system", Role.SYSTEM, texts=[_text(system)])
    if not instruction.is_empty:
        yield instruction
    work: Draft | None = None  # thoughts and code whose answer has not come yet
    for place, chunk in enumerate(_chunks(raw)):
        role = _ROLES.get(text_in(chunk.get("role")))
        if role is None:
            news[f"role:{chunk.get('role')}"] += 1
        if work is not None and role is not Role.ASSISTANT:
            yield work
            work = None
        draft = work or Draft(text_in(chunk.get("id")) or f"index:{place}", role or Role.SYSTEM)
        draft.created_at = draft.created_at or time_in(chunk.get("createTime"))
        draft.model = model if role is Role.ASSISTANT else ""
        _fill(draft, chunk)
        work = draft if role is Role.ASSISTANT and not draft.text else None
        if work is None and not draft.is_empty:
            yield draft
    if work is not None and not work.is_empty:
        yield work


def _fill(draft: Draft, chunk: Raw) -> None:
    if chunk.get("isThought") is True:
        draft.aside("reasoning", _text(chunk))
        return
    draft.texts.append(_text(chunk))
    code = dict_in(chunk.get("executableCode"))
    draft.aside("tool_call", text_in(code.get("code")), text_in(code.get("language")).lower())
    result = dict_in(chunk.get("codeExecutionResult"))
    draft.aside("tool_result", text_in(result.get("output")))
    draft.aside("tool_result", text_in(chunk.get("errorMessage")), "error")
    for key in _FILES:
        held = dict_in(chunk.get(key))
        if held:
            name = text_in(held.get("name")) or key
            mime_type = text_in(held.get("mimeType"))
            draft.attachments.append(Attachment(name, text_in(held.get("id")), mime_type))
    grounding = dict_in(chunk.get("grounding"))
    for key in ("groundingSources", "corroborationSegments"):
        for source in dicts_in(grounding.get(key)):
            draft.cite(text_in(source.get("uri")), text_in(source.get("title")))
