"""The one-time token that lets the first person set the server up.

Whoever can read the server's output or its data folder may become the owner; whoever merely
reaches its port may not. Kept in `<home>/setup.token` until an owner exists.
"""

import contextlib
import os
from pathlib import Path

from backread.crypto import new_token, same_secret
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.repositories import accounts


def setup_token_path(settings: Settings) -> Path:
    return settings.home / "setup.token"


def ensure_setup_token(settings: Settings, store: Store) -> str | None:
    """The token to set the server up with, made if there is none; None once it is set up.

    Safe when several processes start at once: one of them makes it, all return the same.
    """
    with store.read() as session:
        if accounts.has_sign_in(session):
            discard_setup_token(settings)
            return None
    configured = settings.setup_token.get_secret_value()
    if configured:
        return configured
    path = setup_token_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Linked into place whole, so that no other process can read half a token.
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(new_token(), encoding="ascii")
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
    return path.read_text(encoding="ascii").strip()


def is_setup_token(settings: Settings, given: str) -> bool:
    """Whether `given` is the token. False when there is none to compare with."""
    expected = settings.setup_token.get_secret_value()
    if not expected:
        try:
            expected = setup_token_path(settings).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return False
    return bool(given) and same_secret(expected, given)


def discard_setup_token(settings: Settings) -> None:
    setup_token_path(settings).unlink(missing_ok=True)
