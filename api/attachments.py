"""Files to be saved: headers that keep a browser from showing them in place, whatever they are."""

from urllib.parse import quote

_NAME_CHARACTERS = 150


def attachment_headers(name: str, *, ending: str = "") -> dict[str, str]:
    """For a stranger's bytes. `ending` is added to a name that has none."""
    return {
        "Content-Disposition": _disposition(name, ending),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def _disposition(name: str, ending: str) -> str:
    """RFC 6266: the name in ASCII for old clients, and as it is. No path, no control characters,
    no dot at the start; the ending stays."""
    bare = name.replace("\\", "/").rsplit("/", 1)[-1]
    safe = "".join(each for each in bare if each.isprintable()).strip(" .")
    safe = safe[-_NAME_CHARACTERS:].lstrip(" .") or "document"
    safe = safe if "." in safe else f"{safe}{ending}"
    plain = "".join(each if each.isascii() and each not in '"\\%;' else "_" for each in safe)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"
