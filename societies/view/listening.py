"""On which socket does the server of the page listen, and what is its address?

The socket is opened first, so that a port in use is reported at once.
"""

from __future__ import annotations

import errno
import ipaddress
import secrets
import socket
from dataclasses import dataclass

from societies.errors import ConfigError, option

LOOPBACK = "127.0.0.1"
PORT = 8765


@dataclass(frozen=True)
class Listening:
    """An open socket and its address.

    Attributes
    ----------
    socket : bound, and not yet accepting
    address : address for the browser: "http://127.0.0.1:8765/"
    token : secret part of the address; "" on the loopback interface, which others cannot reach
    """

    socket: socket.socket
    address: str
    token: str


def is_loopback(host: str) -> bool:
    """Whether a name or an address is a loopback one, which other machines cannot reach."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def listen(host: str = LOOPBACK, port: int = PORT) -> Listening:
    """Open the socket of a page.

    Parameters
    ----------
    host : name or address of one of this machine's interfaces; "0.0.0.0" or "::": all of them
    port : 0 to 65535; 0: any free port

    Raises
    ------
    ConfigError
        If this machine has no such address, or the port is in use.
    """
    if not 0 <= port <= 65535:
        raise ConfigError(f"{option('port', port)}: ports are 0 to 65535")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise ConfigError(f"{option('host', host)}: there is no such address") from None
    family, kind, protocol, _, place = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen()  # otherwise a second server could bind to the port too, and fail only later
    except OSError as error:
        made.close()
        raise ConfigError(_refused(host, port, error)) from None
    alone = is_loopback(str(place[0]))
    token = "" if alone else secrets.token_urlsafe(16)
    shown = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    name = f"[{shown}]" if ":" in shown else shown
    address = f"http://{name}:{made.getsockname()[1]}/" + (f"?token={token}" if token else "")
    return Listening(made, address, token)


def _refused(host: str, port: int, error: OSError) -> str:
    """Return the message for a socket that cannot be opened."""
    asked = option("port", port)
    if error.errno == errno.EADDRINUSE:
        return f"{asked}: the port is in use; choose another, or 0 for any that is free"
    if error.errno == errno.EACCES:
        return f"{asked}: this user may not use this port; choose one from 1024 on"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{option('host', host)}: this machine has no such address"
    return f"{asked}: {error.strerror or error}"
