"""What must come of each of the published sample exports.

The numbers were counted in the files themselves, by the rules for each format, and not taken
from a report: conversations, and in `dialogue` the messages of the person and of the assistant
that the platform shows as the conversation. Tool calls, reasoning, hidden and injected text and
branches that are not shown do not count.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """The outcome of one file, or of a folder that is one export."""

    path: str
    platform: str  # "" when nothing is imported
    found: int = 1
    dialogue: int = 0
    skipped: int = 0
    reason: str = ""  # in the report's error, or of a conversation that was skipped
    warning: str = ""  # part of the report's only warning
    news: int = 0  # pieces of unknown kinds

    @property
    def new(self) -> int:
        return self.found - self.skipped


_NO_MESSAGES = "It has no messages."
_UNKNOWN = "holds no conversations of a kind that is known"

EXPECTED = (
    # The third chat with the character has no messages.
    Expected(
        "character_ai/derived_dumper_Captain_Ada.json",
        "character_ai",
        found=3,
        dialogue=5 + 1,
        skipped=1,
        reason=_NO_MESSAGES,
    ),
    Expected("chatgpt/1ch1n_example_chatgpt.json", "chatgpt", dialogue=4),
    # Two chats; in the first the browser's calls and what it read stand between.
    Expected("chatgpt/librechat_chatgpt-export.json", "chatgpt", found=2, dialogue=6 + 4),
    # One more question lies on a branch.
    Expected("chatgpt/mitkury_example-conversation.json", "chatgpt", dialogue=4),
    # One more answer lies on a branch; the last message is a text with a picture.
    Expected("chatgpt/panchat_chatgpt_branched.json", "chatgpt", dialogue=3),
    # Of eight messages, a note, thoughts, a search, its output and a recap are no dialogue.
    Expected("chatgpt/polylogue_native-conversation-v1.json", "chatgpt", dialogue=2),
    # Made-up kinds of content: each of the three messages is of one. Two are on the shown line.
    Expected("chatgpt/polylogue_schema_sample-00.json", "chatgpt", dialogue=2, news=3),
    Expected("chatgpt/quentinous_sample_export.zip", "chatgpt", found=2, dialogue=4 + 2),
    # A tool's text of weight 0 stands between question and answer.
    Expected("chatgpt/sanand0_csv-data-analysis-insights.json", "chatgpt", dialogue=2),
    # An answer before the real one is empty.
    Expected("chatgpt/sanand0_node-js-network-libraries.json", "chatgpt", dialogue=4),
    # A picture, a spoken answer and a recording; a question whose answer is thoughts alone.
    Expected(
        "chatgpt/sharded_v2", "chatgpt", found=2, dialogue=3 + 1, warning="conversations-404.json"
    ),
    Expected("chatgpt_exporter/derived_ChatGPT-Knots.tavern.jsonl", "chatgpt_exporter", dialogue=2),
    # One more answer lies on a branch.
    Expected("chatgpt_exporter/derived_official_array.json", "chatgpt", dialogue=2),
    Expected("claude_ai/1ch1n_example_anthropic.json", "claude_ai", dialogue=4),
    Expected("claude_ai/osteele_api.json", "claude_ai", dialogue=2),
    Expected("claude_ai/osteele_cooking.json", "claude_ai", dialogue=6),
    Expected("claude_ai/osteele_data.json", "claude_ai", dialogue=2),
    Expected("claude_ai/osteele_debugging.json", "claude_ai", dialogue=4),
    Expected("claude_ai/osteele_python.json", "claude_ai", dialogue=4),
    Expected("claude_ai/osteele_webdev.json", "claude_ai", dialogue=2),
    # A `citation_block` is among the blocks of the answer.
    Expected("claude_ai/panchat_claude_conversations.json", "claude_ai", dialogue=2, news=1),
    # 3 + 4 + 1 blocks of made-up kinds; the words are in `text`.
    Expected("claude_ai/polylogue_schema_sample-00.json", "claude_ai", dialogue=3, news=8),
    # A design chat; beside it a project with its document, and memories.
    Expected("claude_ai/v2_directory", "claude_ai", dialogue=2),
    Expected("claude_ai/yetanotherchris_claude_thinking_example.json", "claude_ai", dialogue=2),
    # Four questions, one more line with a tool's result; five answers.
    Expected("claude_code/agentsessions_large.jsonl", "claude_code", dialogue=4 + 5),
    Expected("claude_code/agentsview_tool_call_pending.jsonl", "claude_code", dialogue=2),
    Expected("claude_code/agentsview_valid_session.jsonl", "claude_code", dialogue=4),
    # Lines that count tokens and say nothing.
    Expected(
        "claude_code/ccusage_session-alpha.jsonl", "claude_code", skipped=1, reason=_NO_MESSAGES
    ),
    Expected(
        "claude_code/ccusage_session-beta.jsonl", "claude_code", skipped=1, reason=_NO_MESSAGES
    ),
    # Four questions, two lines with tools' results; three answers, two calls without words.
    Expected("claude_code/claudecodelog_representative_messages.jsonl", "claude_code", dialogue=7),
    Expected("claude_code/claudecodelog_session_b.jsonl", "claude_code", dialogue=3),
    # A command and what it expands to are not the person's words, nor is what an agent is asked
    # by another: three answers of the session, one of the agent.
    Expected("claude_code/dkimuson", "claude_code", found=2, dialogue=3 + 1),
    Expected("claude_code/polylogue_normalization-agent.jsonl", "claude_code", dialogue=2),
    Expected("claude_code/polylogue_normalization-lineage-parent.jsonl", "claude_code", dialogue=2),
    # Five questions, without the summary of a compaction; eight answers with words.
    Expected("claude_code/simonw_sample_session.json", "claude_code", dialogue=5 + 8),
    Expected("claude_code/simonw_sample_session.jsonl", "claude_code", dialogue=4),
    # Events of turns and tokens without anything said.
    Expected("codex/agentsessions_codex_050_legacy.jsonl", "codex", skipped=1, reason=_NO_MESSAGES),
    Expected("codex/agentsessions_session_simple.jsonl", "codex", dialogue=2),
    Expected("codex/agentsessions_session_toolcall.jsonl", "codex", dialogue=2),
    # The answer stands there twice, as an event and as an item.
    Expected("codex/agentsview_blockquotes_session.jsonl", "codex", dialogue=2),
    Expected("codex/agentsview_fc_args_1.jsonl", "codex", dialogue=1),
    Expected("codex/agentsview_fc_args_2.jsonl", "codex", dialogue=1),
    Expected("codex/agentsview_fc_stdin.jsonl", "codex", dialogue=1),
    Expected("codex/agentsview_function_calls.jsonl", "codex", dialogue=1),
    Expected("codex/agentsview_standard_session.jsonl", "codex", dialogue=2),
    Expected("codex/ccusage_session-alpha.jsonl", "codex", skipped=1, reason=_NO_MESSAGES),
    # Question and answer stand there twice; three more lines are injected text.
    Expected("codex/derived_rollout_0148.jsonl", "codex", dialogue=2),
    Expected("codex/polylogue_text_only_stream.jsonl", "codex", dialogue=2),
    # Three questions; of four answers one is a call without words.
    Expected("copilot_cli/agentsessions_large.jsonl", "copilot_cli", dialogue=3 + 3),
    # Two questions; of five answers one is a subagent's.
    Expected("copilot_cli/agentsessions_small.jsonl", "copilot_cli", dialogue=2 + 4),
    # Seven headers: one bubble is gone, two are uses of tools.
    Expected("cursor/S2thend_v016_composer-global-state.vscdb", "cursor", dialogue=4),
    Expected("cursor/S2thend_v016_fixture-manifest.json", "", found=0, reason=_UNKNOWN),
    Expected("cursor/S2thend_v016_tagged-output.json", "", found=0, reason=_UNKNOWN),
    # Another tool's file, whose `session` holds a list of messages.
    Expected("cursor/S2thend_v017_transcript-complete.json", "transcript", dialogue=2),
    Expected("cursor/S2thend_with-tools.jsonl", "cursor", dialogue=2),
    Expected("cursor/agentsessions_test-session.jsonl", "cursor", dialogue=6),
    Expected("cursor/agentsessions_transcript_small.jsonl", "cursor", dialogue=4),
    # Five messages, of which the shown line holds the last three.
    Expected("deepseek/andrmkrff_sample_conversation.json", "deepseek", dialogue=3),
    # Of the first chat's two branches of two messages the edited one is shown.
    Expected("deepseek/derived_conversations.json", "deepseek", found=2, dialogue=2 + 2),
    # Four pieces of the model's are one answer.
    Expected("gemini_aistudio/code_execution_prompt.json", "gemini_aistudio", dialogue=2),
    Expected("gemini_aistudio/multi_turn_prompt.json", "gemini_aistudio", dialogue=4),
    Expected("gemini_aistudio/text_only_prompt.json", "gemini_aistudio", dialogue=4),
    Expected("gemini_aistudio/text_only_session.json", "gemini_aistudio", dialogue=2),
    # Two questions, two answers; two uses of tools and a notice beside them.
    Expected("gemini_cli/agentsessions_large.json", "gemini_cli", dialogue=4),
    Expected("gemini_cli/agentsview_standard_session.json", "gemini_cli", dialogue=4),
    Expected("gemini_cli/agentsview_tool_calls.json", "gemini_cli", dialogue=2),
    Expected("gemini_cli/polylogue_gemini-cli-session.json", "gemini_cli", dialogue=2),
    # Six rows: two are of one chat, two have no id, of which one has no answer, two are no chat.
    Expected("gemini_takeout/panchat_MyActivity.json", "gemini_takeout", found=3, dialogue=4 + 3),
    Expected("grok/1ch1n_example_grok.json", "grok", dialogue=4),
    Expected("grok/polylogue_grok-export.json", "grok", dialogue=2),
    Expected("librechat/librechat-export.json", "librechat", dialogue=6),
    Expected("librechat/librechat-linear.json", "librechat", dialogue=2),
    # Eight rows of three chats; one question is blank.
    Expected(
        "ms_copilot/derived_copilot-activity-history.csv", "ms_copilot", found=3, dialogue=4 + 2 + 1
    ),
    Expected("openwebui/yetanotherchris_webui-json.json", "openwebui", dialogue=2),
    # Two questions, two answers; five lines that hold no message.
    Expected("other_agents/pi_small.jsonl", "transcript", dialogue=4, news=5),
    # A question, an answer; thoughts, a tool, telemetry and a notification beside them.
    Expected(
        "other_agents/qwen_019f0000-0000-7000-8000-000000000001.jsonl", "transcript", dialogue=2
    ),
    # A second entry is blank.
    Expected("perplexity/derived_legacy_thread.json", "perplexity", dialogue=2),
    Expected("poe/derived_compact.json", "poe", dialogue=2),
    # One answer is a picture.
    Expected("poe/derived_share_next_data.json", "poe", dialogue=4),
    # A greeting, a question with its answer, a question without.
    Expected("sillytavern/derived_ooba_chat.json", "sillytavern", dialogue=4),
    Expected("typingmind/derived_export.json", "typingmind", dialogue=2),
    # Traces without the words: three uses of tools.
    Expected("vscode_copilot/agentsview_visualstudio_sample-1.jsonl", "vscode_copilot"),
    Expected("vscode_copilot/codervisor_copilot-array-value.json", "vscode_copilot", dialogue=2),
    Expected("vscode_copilot/derived_chatSession_v3.json", "vscode_copilot", dialogue=4),
)
