"""Secrets that are shown once and stored as hashes."""

import hashlib
import hmac
import secrets


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
