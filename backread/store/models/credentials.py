"""What people sign in with beside their password, and what scripts do."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class AuthenticatorApp(Base):
    """An account's authenticator app (TOTP, RFC 6238). It counts once it is confirmed by a code."""

    __tablename__ = "authenticator_apps"

    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    sealed_secret: Mapped[str] = mapped_column(Text)  # encrypted, see `backread.crypto.SecretBox`
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    confirmed_at: Mapped[datetime | None]
    # The 30-second step of the newest code that was used. No code of it or before works again.
    last_step: Mapped[int] = mapped_column(BigInteger, default=0)


class RecoveryCode(Base):
    """Stands in for the authenticator app, once. Deleted when it is used."""

    __tablename__ = "recovery_codes"

    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Passkey(Base):
    """A WebAuthn credential of an account."""

    __tablename__ = "passkeys"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    credential_hash: Mapped[str] = mapped_column(String(64), unique=True)
    credential_id: Mapped[bytes] = mapped_column(LargeBinary)  # up to 1023 bytes
    public_key: Mapped[bytes] = mapped_column(LargeBinary)  # COSE
    sign_count: Mapped[int] = mapped_column(BigInteger, default=0)
    transports: Mapped[list[Any]] = mapped_column(default=list)
    name: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_used_at: Mapped[datetime | None]


class SignInChallenge(Base):
    """A sign-in, or the adding of a passkey, that waits for its second half: a code for a right
    password, or an authenticator's signature. Used once, within minutes."""

    __tablename__ = "sign_in_challenges"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    purpose: Mapped[str] = mapped_column(String(16))  # code | passkey | add_passkey
    # None while it is not known who signs in.
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(100), default="")  # base64url, for WebAuthn
    tries: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class PersonalToken(Base):
    """A token that a person made for a script. Deleted when it is revoked. Canonical."""

    __tablename__ = "personal_tokens"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    scopes: Mapped[list[Any]] = mapped_column(default=list)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime | None]  # None: never
    last_used_at: Mapped[datetime | None]


class Invite(Base):
    """A link with which one person may make an account. Deleted when it is used or revoked."""

    __tablename__ = "invites"

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    invited_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200), default="")  # whom it is for, in words
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime]
