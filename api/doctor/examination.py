"""Examines how clients reach this server: from outside by its public address, and from inside."""

from threading import Lock
from urllib.parse import urlsplit

from api.doctor.address import check_address
from api.doctor.findings import Examination, Finding, Section
from api.doctor.probe import Probe
from api.doctor.profiles import PROFILES, ClientProfile
from api.doctor.walk import Walk
from backread.domain import Principal
from backread.errors import Conflict
from backread.kernel import Kernel
from backread.settings import LOOPBACK_HOSTS, Settings

_running = Lock()
_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to


def examine(
    kernel: Kernel, principal: Principal, address: str, *, is_public: bool = True
) -> Examination:
    """Runs every check against an origin (`https://host[:port]`). Takes seconds, and stores
    nothing that it does not remove again. Clients are tried only where the address is sound."""
    settings = kernel.settings
    # Past the proxy, the server is asked under the name that a proxy hands on.
    headers = {} if is_public else {"Host": urlsplit(settings.origin).netloc}
    probe = Probe(address, headers=headers)
    try:
        findings = list(check_address(probe, settings, is_public=is_public))
    finally:
        probe.close()
    own = Section(title="The address", findings=findings)
    sections = [own]
    if own.state != "failed":
        sections += _walks(kernel, principal, address, headers)
    return Examination(address=address, identity=settings.origin, sections=sections)


def _walks(
    kernel: Kernel, principal: Principal, address: str, headers: dict[str, str]
) -> list[Section]:
    sections = []
    for profile in PROFILES:
        walk = Walk(kernel, principal, address, profile, headers)
        try:
            findings = [*_reach(profile, address), *walk.findings()]
            sections.append(Section(title=profile.name, findings=findings))
        finally:
            walk.clean_up()
    return sections


def _reach(profile: ClientProfile, address: str) -> list[Finding]:
    """What no walk from this machine can find out."""
    if not profile.is_hosted or urlsplit(address).hostname not in LOOPBACK_HOSTS:
        return []
    return [
        Finding(
            check="public_address",
            title="The address can be reached from elsewhere",
            state="warning",
            problem=f"{address} is this computer only, and {profile.name} runs at its maker's.",
            advice="Give the server an https address that the internet reaches (--public-url).",
        )
    ]


def examine_all(kernel: Kernel, principal: Principal) -> list[Examination]:
    """The public address, and, where a proxy stands before the server, what lies behind it: so
    that it is plain which of the two has to be changed.

    Raises Conflict while another examination runs in this process. Each holds a thread and needs
    further ones to be answered by: enough of them at once would keep everybody waiting.
    """
    if not _running.acquire(blocking=False):
        raise Conflict(
            "The connection is being checked at this moment.", hint="Try again in a minute."
        )
    try:
        return _examine_all(kernel, principal)
    finally:
        _running.release()


def _examine_all(kernel: Kernel, principal: Principal) -> list[Examination]:
    settings = kernel.settings
    found = [examine(kernel, principal, settings.origin)]
    if urlsplit(settings.origin).hostname not in LOOPBACK_HOSTS:
        found.append(examine(kernel, principal, inside_address(settings), is_public=False))
    return found


def inside_address(settings: Settings) -> str:
    """Where the server itself listens, past any proxy."""
    host = settings.host if settings.host not in _EVERYWHERE else "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    return f"http://{host}:{settings.port}"
