"""Secrets: those that are shown once and stored as hashes, and those that are kept encrypted."""

import base64
import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
_NONCE_BYTES = 12


def new_token(prefix: str = "") -> str:
    """A 256-bit random token, URL-safe. `prefix` tells people and scanners what it is."""
    return prefix + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """What is stored for a token. Plain SHA-256 is enough: the token itself has 256 random bits,
    so there is nothing to guess by brute force."""
    return hashlib.sha256(token.encode()).hexdigest()


def same_secret(left: str, right: str) -> bool:
    """Compares in time that does not depend on where the two differ."""
    return hmac.compare_digest(left.encode(), right.encode())


class SecretBox:
    """Encrypts small secrets that the server has to read again, with AES-256-GCM.

    `purpose` names what a secret is for and whose it is. It is not stored; a secret opens only
    under the purpose it was sealed with, so none can be moved to another row.
    """

    def __init__(self, key: bytes) -> None:
        """Raises ValueError unless the key has `KEY_BYTES` bytes."""
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key of {len(key)} bytes instead of {KEY_BYTES}")
        self._cipher = AESGCM(key)

    def seal(self, secret: str, *, purpose: str) -> str:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, secret.encode(), purpose.encode())
        return base64.urlsafe_b64encode(nonce + sealed).decode()

    def open(self, sealed: str, *, purpose: str) -> str | None:
        """The secret; None when it was sealed with another key, for another purpose, or changed."""
        try:
            raw = base64.urlsafe_b64decode(sealed.encode())
            opened = self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], purpose.encode())
        except (ValueError, InvalidTag):
            return None
        return opened.decode()
