"""Which addresses are the internet's."""

import pytest

from storage.sources.addresses import is_public


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001::8a"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    """127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 ::1 ::
    fe80::1 fe80::1%eth0 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1::1
    64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::a00:1 64:ff9b:1:fffe::7f00:1 2001::7f00:1 2001:0:808:808::f5ff:fffe
    ::7f00:1 ::808:808 ::ffff:0:7f00:1 fec0::1 100::1 5f00::1 3fff::1 2001:db8::1 2001:20::1
    2606:4700::5efe:a00:1 2606:4700::200:5efe:7f00:1 192.88.99.1 198.18.0.1 192.0.0.8 240.0.0.1""".split(),
)
def test_addresses_of_the_own_network_are_not(address: str) -> None:
    assert not is_public(address)
