"""How each AI client introduces itself and asks, as far as servers are known to trip over it.

Recorded from the clients themselves (Claude Code 2.1, Codex 0.171, mcp-remote 0.15, Inspector
2.12, November 2026) and, for those that run elsewhere, from their documentation and reports.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClientProfile:
    """`registers` is how often it registers in one attempt. `is_modern`: speaks 2026-07-28.
    `is_hosted`: runs at its maker's, so it needs an address that the internet reaches."""

    name: str
    redirect_uris: tuple[str, ...]
    auth_method: str | None = "none"  # None: left out, which means client_secret_basic
    user_agent: str = ""
    protocol_version: str = "2025-11-25"
    registers: int = 1
    is_modern: bool = False
    is_hosted: bool = False

    def registration(self) -> dict[str, Any]:
        """Under a name of the examination's own, so that it never meets the real client's."""
        body: dict[str, Any] = {
            "client_name": f"Connection check ({self.name})",
            "redirect_uris": list(self.redirect_uris),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
        }
        return (
            body
            if self.auth_method is None
            else body | {"token_endpoint_auth_method": self.auth_method}
        )


PROFILES: tuple[ClientProfile, ...] = (
    ClientProfile(
        "Claude on the web",
        ("https://claude.ai/api/mcp/auth_callback",),
        auth_method="client_secret_post",
        user_agent="Claude-User",
        protocol_version="2025-06-18",
        registers=2,
        is_hosted=True,
    ),
    ClientProfile(
        "ChatGPT",
        ("https://chatgpt.com/connector_platform_oauth_redirect",),
        user_agent="openai-mcp/1.0.0",
        protocol_version="2025-06-18",
        is_hosted=True,
    ),
    ClientProfile(
        "Claude Code",
        ("http://localhost:52871/callback",),
        user_agent="claude-code/2.1.332 (cli)",
        is_modern=True,
    ),
    ClientProfile("Codex", ("http://127.0.0.1:52872/callback",), protocol_version="2025-06-18"),
    ClientProfile(
        "Cursor",
        (
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ),
        user_agent="Cursor/2.0",
        protocol_version="2025-06-18",
    ),
    ClientProfile(
        "VS Code",
        ("http://127.0.0.1:33418/", "https://vscode.dev/redirect"),
        user_agent="node",
    ),
    ClientProfile("mcp-remote", ("http://localhost:52873/oauth/callback",), user_agent="node"),
    ClientProfile(
        "A client with a secret in the header",
        ("https://client.example/callback",),
        auth_method=None,
        user_agent="python-httpx/0.28",
        protocol_version="2024-11-05",
    ),
)
