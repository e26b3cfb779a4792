"""Which addresses of the internet a source may reach.

Each name is resolved once, checked, and connected to as resolved. Otherwise a page or a redirect could make the service
read addresses that only its machine can reach.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

from core.errors import SourceUnavailable

Allowed = Callable[[str], bool]
Resolve = Callable[[str, int], Awaitable[list[str]]]
ALLOW = "Set allow_private = true for this source if that is meant"  # for the person who configures a source

# The addresses of the public IPv6 internet. All else is refused: mapped, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), local.
_PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
# Global addresses for some version of Python: Teredo and other protocols, 6to4 and its relays, documentation.
_REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in ("2001::/23", "2002::/16", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24")
)
# The middle of ISATAP's interface identifiers: an IPv4 address follows.
_ISATAP = (0x00005EFE, 0x02005EFE)


class PrivateAddress(SourceUnavailable):
    """An address that isn't allowed."""


def is_public(address: str) -> bool:
    """Return whether an IP address is public, and leads to no other one: not private, local, reserved or translated."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if not ip.is_global or ip.is_multicast or any(ip in network for network in _REFUSED):
        return False
    return ip.version == 4 or (ip in _PUBLIC_IPV6 and (int(ip) >> 32) & 0xFFFFFFFF not in _ISATAP)


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host. Raises SourceUnavailable without one."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceUnavailable(f"The host {host!r} can't be found ({error}): check the address") from error
    return list(dict.fromkeys(str(item[4][0]) for item in found))


async def checked_addresses(
    host: str, port: int, *, allowed: Allowed = is_public, advice: str = ALLOW, resolve: Resolve
) -> list[str]:
    """Return the addresses to connect to. Raises SourceUnavailable, which ends with `advice`, if one isn't allowed."""
    addresses = await resolve(host, port)
    if not addresses or not all(allowed(address) for address in addresses):
        raise PrivateAddress(f"{host!r} is an address of your own network, which is not read. {advice}")
    return addresses
