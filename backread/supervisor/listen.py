"""The socket the web server answers on. The supervisor opens it and hands it down, so a crashed
web server is restarted without refusing a connection."""

import errno
import socket

from backread.errors import Conflict, InvalidInput


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises Conflict when the port is in use and
    InvalidInput when the address is not this machine's or the port needs more rights."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise InvalidInput(
            f"{host} is not an address.", hint="Use --host 127.0.0.1, or 0.0.0.0 for all networks."
        ) from error
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise _explained(error, host, port) from error
    listener.set_inheritable(True)
    return listener


def _explained(error: OSError, host: str, port: int) -> Exception:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            f"Port {port} is in use by another program.",
            hint=f"Stop that program, or choose another port: backread up --port {port + 1}",
        )
    if error.errno == errno.EACCES:
        return InvalidInput(
            f"Port {port} may only be opened by an administrator.",
            hint="Choose a port above 1023, for example --port 8787.",
        )
    return InvalidInput(
        f"Cannot listen on {host}: {error.strerror}.",
        hint="Use --host with this machine's address.",
    )
