"""Says to which addresses nothing is ever sent (docs/rules/events.md#addresses)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

PUBLIC_IPV6 = IPv6Network("2000::/3")
"""Global unicast, the one range of IPv6 in which a receiver can be: mapped, compatible, NAT64, link-local, site-local,
unique local and multicast addresses are not in it."""
NOT_PUBLIC = (
    IPv4Network("100.64.0.0/10"),  # carriers' NAT, and metadata of some clouds
    IPv4Network("168.63.129.16/32"),  # a cloud's own server
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("198.18.0.0/15"),
    IPv6Network("2001::/23"),  # Teredo among them, which holds an address of IPv4
    IPv6Network("2002::/16"),  # 6to4, likewise
    IPv6Network("3fff::/20"),
)
"""Ranges that the library, or an older release of it, takes for public, and that are not, or lead on to others."""


def is_public(address: Address) -> bool:
    """Say whether a receiver on the Internet can have the address."""
    if address.version == 6 and address not in PUBLIC_IPV6:
        return False
    if not address.is_global or address.is_multicast or address.is_reserved or address.is_unspecified:
        return False
    return not any(address in network for network in NOT_PUBLIC if network.version == address.version)
