"""What an examination of the connection found, for pages, REST and the command line alike."""

from typing import Literal

from pydantic import BaseModel, Field

State = Literal["ok", "warning", "failed", "skipped"]


class Finding(BaseModel):
    """One check. `problem` says what was seen, `advice` what to change; both empty when ok."""

    check: str = Field(description="Stable name of the check.")
    title: str
    state: State
    problem: str = ""
    advice: str = ""


class Section(BaseModel):
    """The address itself, or one client's way in."""

    title: str
    findings: list[Finding]

    @property
    def state(self) -> State:
        """The worst of its findings; skipped ones follow from another failure."""
        states = {finding.state for finding in self.findings}
        return next((state for state in ("failed", "warning", "ok") if state in states), "skipped")


class Examination(BaseModel):
    """All sections for one address. `identity` is what the server takes its own address to be."""

    address: str
    identity: str
    sections: list[Section]

    @property
    def is_healthy(self) -> bool:
        """Whether every client that was tried came through."""
        return all(section.state in {"ok", "warning"} for section in self.sections)
