"""The server's own key, for secrets that it must be able to read again.

Kept in `<home>/secret.key`, readable by its owner only, and made on first use. It lies beside the
database on purpose: a copy of the database alone opens nothing, a copy of the whole folder does.
"""

import base64
import binascii
import contextlib
import os
import secrets
from functools import lru_cache
from pathlib import Path

from backread.crypto import KEY_BYTES, SecretBox
from backread.errors import Unavailable
from backread.settings import Settings


def server_box(settings: Settings) -> SecretBox:
    """Seals and opens with this server's key. Raises Unavailable when the key is damaged."""
    return _box(settings.home / "secret.key")


@lru_cache(maxsize=4)
def _box(path: Path) -> SecretBox:
    if not path.exists():
        _make(path)
    try:
        key = base64.urlsafe_b64decode(path.read_text(encoding="ascii").strip())
        return SecretBox(key)
    except (binascii.Error, ValueError) as error:
        raise Unavailable(
            f"The server's key in {path} is damaged.",
            hint="Put it back from a backup. Without it, authenticator apps must be set up anew.",
        ) from error


def _make(path: Path) -> None:
    """Linked into place whole: of several processes that start at once, one makes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_bytes(base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)))
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
