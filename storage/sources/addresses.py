"""Keeps requests out of the own network: every name is looked up once, checked, and connected to as looked up.

A page of the web, or a redirect, could otherwise make the service read what only the service's machine can reach.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

import httpx

from core.errors import SourceUnavailable

Resolve = Callable[[str, int], Awaitable[list[str]]]
# Addresses that stand for an IPv4 address in another form, which may be one of the own network.
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2002::/16"))


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet's: not private, local to the link or the machine, or reserved."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if any(ip in network for network in _TRANSLATED):
            return False
    return ip.is_global and not ip.is_multicast


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system knows them. SourceUnavailable where it has none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceUnavailable(f"The host {host!r} can't be found ({error}): check the address") from error
    return list(dict.fromkeys(str(item[4][0]) for item in found))


class GuardedTransport(httpx.AsyncBaseTransport):
    """Connects to checked addresses alone. TLS still proves the name: each host has connections of its own."""

    def __init__(self, *, allowed: Callable[[str], bool], resolve: Resolve = resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._inner: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = await self._resolve(host, port)
        refused = next((address for address in addresses if not self._allowed(address)), None)
        if refused is not None or not addresses:
            raise SourceUnavailable(
                f"{host!r} is an address of the own network ({refused}), which is not read: "
                "set allow_private = true for this source if that is meant"
            )
        named = {} if host in addresses else {"sni_hostname": host}
        guarded = httpx.Request(
            request.method,
            request.url.copy_with(host=addresses[0]),
            headers=request.headers,  # with the Host of the name
            stream=request.stream,
            extensions={**request.extensions, **named},
        )
        if host not in self._inner:  # each reads all certificates that the machine trusts: 20 ms
            self._inner[host] = httpx.AsyncHTTPTransport()
        return await self._inner[host].handle_async_request(guarded)

    async def aclose(self) -> None:
        for inner in self._inner.values():
            await inner.aclose()
