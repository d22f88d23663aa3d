"""How each AI client is connected: what to click or paste, with this server's own address."""

import base64
import json
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from backread.settings import LOOPBACK_HOSTS


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to paste. `where` says where it goes."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class ClientGuide:
    """`is_remote`: the client's own servers fetch from us, so a loopback address cannot work.
    `link` opens the client with everything filled in."""

    slug: str
    name: str
    link: str = ""
    steps: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    is_remote: bool = False


def client_guides(mcp_url: str) -> list[ClientGuide]:
    """Set-up of every client that is known to work, for the MCP server at `mcp_url`."""
    return [
        _claude(),
        _claude_code(mcp_url),
        _chatgpt(),
        _codex(mcp_url),
        _cursor(mcp_url),
        _vs_code(mcp_url),
        _gemini(mcp_url),
        _grok(mcp_url),
        _mcp_remote(mcp_url),
        _inspector(),
    ]


def is_loopback(origin: str) -> bool:
    """Whether only this computer can reach the address."""
    return (urlsplit(origin).hostname or "") in LOOPBACK_HOSTS


def _claude() -> ClientGuide:
    return ClientGuide(
        "claude",
        "Claude (web and desktop)",
        steps=(
            "Open Customize (or Settings) → Connectors and choose “Add custom connector”.",
            "Name it Backread and paste the MCP address from above.",
            "Choose Connect, sign in here and allow access.",
        ),
        is_remote=True,
    )


def _claude_code(url: str) -> ClientGuide:
    return ClientGuide(
        "claude-code",
        "Claude Code",
        steps=("Afterwards run /mcp inside Claude Code, choose backread and Authenticate.",),
        snippets=(Snippet("In a terminal", f"claude mcp add -t http -s user backread {url}"),),
    )


def _chatgpt() -> ClientGuide:
    return ClientGuide(
        "chatgpt",
        "ChatGPT",
        steps=(
            "Open Settings → Apps → Advanced settings and turn Developer mode on.",
            "Choose “Create app”, name it Backread, paste the MCP address, authentication OAuth.",
            "Sign in here, allow access, and switch Backread on in a new chat.",
        ),
        is_remote=True,
    )


def _codex(url: str) -> ClientGuide:
    config = f'[mcp_servers.backread]\nurl = "{url}"'
    return ClientGuide(
        "codex",
        "Codex",
        steps=("It opens the sign-in page. If it does not, run codex mcp login backread.",),
        snippets=(
            Snippet("In a terminal", f"codex mcp add backread --url {url}"),
            Snippet("Or in ~/.codex/config.toml", config),
        ),
    )


def _cursor(url: str) -> ClientGuide:
    server = {"url": url}
    config = {"mcpServers": {"backread": server}}
    packed = quote(base64.b64encode(json.dumps(server).encode()).decode(), safe="")
    return ClientGuide(
        "cursor",
        "Cursor",
        link=f"cursor://anysphere.cursor-deeplink/mcp/install?name=backread&config={packed}",
        steps=("Then open Settings → MCP, and choose “Needs login” beside backread.",),
        snippets=(Snippet("In ~/.cursor/mcp.json", json.dumps(config, indent=2)),),
    )


def _vs_code(url: str) -> ClientGuide:
    server = {"type": "http", "url": url}
    config = {"servers": {"backread": server}}
    return ClientGuide(
        "vscode",
        "VS Code",
        link="vscode:mcp/install?" + quote(json.dumps({"name": "backread", **server}), safe=""),
        steps=("Choose Start above the entry; VS Code opens the sign-in page.",),
        snippets=(Snippet("In .vscode/mcp.json", json.dumps(config, indent=2)),),
    )


def _gemini(url: str) -> ClientGuide:
    config = {"mcpServers": {"backread": {"httpUrl": url}}}  # `url` would mean HTTP+SSE there
    return ClientGuide(
        "gemini-cli",
        "Gemini CLI",
        steps=("Then run /mcp auth backread inside Gemini CLI.",),
        snippets=(
            Snippet("In a terminal", f"gemini mcp add -t http -s user backread {url}"),
            Snippet("Or in ~/.gemini/settings.json", json.dumps(config, indent=2)),
        ),
    )


def _grok(url: str) -> ClientGuide:
    return ClientGuide(
        "grok",
        "Grok",
        steps=(
            "On the web, open grok.com/connectors, choose “New Connector” and a custom one.",
            "Name it Backread and paste the MCP address from above, which must be a public one.",
            "Sign in here and allow access.",
        ),
        snippets=(
            Snippet(
                "For Grok Build, in a terminal", f"grok mcp add --transport http backread {url}"
            ),
        ),
    )


def _mcp_remote(url: str) -> ClientGuide:
    config = {"mcpServers": {"backread": {"command": "npx", "args": ["-y", "mcp-remote", url]}}}
    return ClientGuide(
        "mcp-remote",
        "Clients that only start programs (mcp-remote)",
        steps=("Works for Claude Desktop on the computer that runs Backread, too.",),
        snippets=(Snippet("In the client's MCP configuration", json.dumps(config, indent=2)),),
    )


def _inspector() -> ClientGuide:
    return ClientGuide(
        "inspector",
        "MCP Inspector",
        steps=("Choose transport “Streamable HTTP”, paste the MCP address and connect.",),
        snippets=(Snippet("In a terminal", "npx -y @modelcontextprotocol/inspector"),),
    )
