"""What the process that reads a stranger's document gives up before it opens it.

Limits of the operating system hold whatever the parser does. Where it is Linux on a processor
that is known here, the process and its children also lose the right to make sockets, for which
no administrator's rights are needed (seccomp, `man 2 seccomp`).
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from typing import Final

_OPEN_FILES: Final = 64
_WRITTEN_BYTES: Final = 256 * 1024**2  # of one file: pictures of pages on their way to OCR
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_PR_SET_DUMPABLE: Final = 4
_SECCOMP_MODE_FILTER: Final = 2
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | 13  # EACCES
# Machine -> its name in the kernel, and the numbers of socket, socketpair and io_uring_setup.
_MACHINES: Final = {
    "x86_64": (0xC000003E, (41, 53, 425)),
    "aarch64": (0xC00000B7, (198, 199, 425)),
}
_X32: Final = 0x40000000  # calls of x86-64's second numbering, which would go past the list


def confine(*, memory_bytes: int, cpu_seconds: int, may_start_programs: bool) -> None:
    """Gives up memory beyond `memory_bytes`, processor time beyond `cpu_seconds`, large files,
    many open files, core dumps, and the network where that is possible."""
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CPU, cpu_seconds, grace=1)  # a signal that says so, then the end
    _limit(resource.RLIMIT_FSIZE, _WRITTEN_BYTES)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    if not may_start_programs:
        _limit(resource.RLIMIT_NPROC, 0)
    if sys.platform == "linux":
        _give_up_network()


def _limit(which: int, value: int, grace: int = 0) -> None:
    _, hard = resource.getrlimit(which)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    end = most + grace if hard == resource.RLIM_INFINITY else min(most + grace, hard)
    try:
        resource.setrlimit(which, (most, end))
    except (ValueError, OSError):
        return  # macOS knows no limit of address space; the clock still ends the process


def _give_up_network() -> bool:
    """False where the kernel or the processor does not offer it."""
    known = _MACHINES.get(platform.machine())
    if known is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    program = _filter(*known)
    buffer = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    described = Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    answer = libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0)
    return bool(answer == 0)


def _filter(architecture: int, refused: tuple[int, ...]) -> bytes:
    """A program for the kernel: `struct sock_filter` after `struct sock_filter`
    (linux/filter.h)."""
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, _ALLOW), (load, 0, 0, 0)]
    steps += [(at_least, 0, 1, _X32), (give, 0, 0, _REFUSE)]
    for number in refused:
        steps += [(equal, 0, 1, number), (give, 0, 0, _REFUSE)]
    steps.append((give, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def bare_environment(folder: str) -> dict[str, str]:
    """The environment of the process: nothing of the server's, and no more threads than one."""
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "TMPDIR": folder,
        "HOME": folder,
        "OMP_THREAD_LIMIT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
