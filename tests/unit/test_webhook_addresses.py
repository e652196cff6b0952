"""Where webhooks may lead."""

import pytest

from headgate.webhooks import addresses
from headgate.webhooks.addresses import Address, UrlRefused

INSIDE = [
    *("0.0.0.0", "10.0.0.5", "100.64.0.1", "127.0.0.1", "127.1.2.3", "169.254.169.254", "172.16.0.1", "192.168.1.1"),
    *("192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::8.8.8.8", "::127.0.0.1"),
    # NAT64, 6to4, Teredo, ORCHID, documentation, discard, local, AWS's metadata, multicast, with a zone.
    *(
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2002:808:808::1",
        "2001::1",
        "2001:20::1",
    ),
    *("2001:db8::1", "3fff::1", "100::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    *("2606:4700::1111%eth0", "not an address", "", "0x7f.1", "2130706433"),
]
OUTSIDE = [
    "8.8.8.8",
    "93.184.215.14",
    "192.0.1.1",
    "198.20.0.1",
    "2606:4700::1111",
    "2a00:1450:4001::200e",
    "2001:4860:4860::8888",
]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_refused(address: str) -> None:
    assert not addresses.allowed(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_a_global_address_is_allowed(address: str) -> None:
    assert addresses.allowed(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_loopback_is_allowed_by_a_setting_alone(address: str) -> None:
    assert (addresses.allowed(address), addresses.allowed(address, loopback=True)) == (False, True)


@pytest.mark.parametrize("address", [one for one in INSIDE if one not in ("127.0.0.1", "127.1.2.3", "::1")])
def test_the_setting_allows_nothing_else(address: str) -> None:
    assert not addresses.allowed(address, loopback=True)


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("https://hooks.example.com/services/1", Address("hooks.example.com", 443, "/services/1")),
        ("https://Hooks.Example.com", Address("hooks.example.com", 443, "/")),
        ("https://hooks.example.com:8443/a?b=c&d", Address("hooks.example.com", 8443, "/a?b=c&d")),
        ("https://xn--mnchen-3ya.example/", Address("xn--mnchen-3ya.example", 443, "/")),
    ],
)
def test_a_url_has_parts(url: str, parsed: Address) -> None:
    assert addresses.parse(url) == parsed


@pytest.mark.parametrize(
    "url",
    [
        *("", "hooks.example.com", "http://hooks.example.com/", "ftp://hooks.example.com/", "//hooks.example.com/"),
        *(
            "https://",
            "https:///path",
            "https://localhost/",
            "https://intern/",
            "https://example.com./",
            "https://-a.com/",
        ),
        *("https://127.0.0.1/", "https://8.8.8.8/", "https://[::1]/", "https://[2606:4700::1111]/", "https://0x7f.1/"),
        *(
            "https://2130706433/",
            "https://1.1/",
            "https://user@example.com/",
            "https://a:b@example.com/",
            "https://@a.com/",
        ),
        *(
            "https://example.com/#part",
            "https://example.com:0x/",
            "https://example.com:99999/",
            "https://münchen.example/",
        ),
        *(
            "https://example.com/a b",
            "https://example.com/\r\nx: y",
            "https://example.com/\x00",
            "https://example.com\\@a.b/",
        ),
        *("https://[::1", "https://exa%6dple.com/", "https://example.com/" + "a" * 2_000),
    ],
)
def test_what_is_not_the_url_of_a_receiver_is_refused(url: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        addresses.parse(url)
    assert refused.value.errors[0].loc == ("body", "url")
