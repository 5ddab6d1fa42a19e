"""Blocks of a pcapng file, as bytes: the section header, interfaces, and packets with comments.

The layout is that of the IETF draft "PCAP Next Generation (pcapng) Capture File Format". Numbers are little-endian, times are nanoseconds.
"""

from __future__ import annotations

from struct import Struct

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
LINKTYPE_RAW = 101
"""The link type of packets that begin with the header of IPv4 or IPv6."""
COMMENT_BYTES = 8192
"""The most bytes of one comment. Options have a 16-bit length, and the text may contain data of a client."""
FAULT, WAITED, CLOSED = "fault: ", "waited for: ", "closed by the broker: "
"""The beginnings of lines in comments that say more about an exchange than its bytes."""
END_OF_OPTIONS, COMMENT, APPLICATION, INTERFACE_NAME, DESCRIPTION, RESOLUTION, FLAGS = 0, 1, 4, 2, 3, 9, 2
INBOUND, OUTBOUND = 1, 2
_NANOSECONDS = b"\x09"
_BLOCK = Struct("<II")
_TOTAL = Struct("<I")
_OPTION = Struct("<HH")
_SECTION = Struct("<IHHq")
_INTERFACE = Struct("<HHI")
_PACKET = Struct("<IIIII")


def section_header(application: str) -> bytes:
    """Returns the block with which a file begins. `application` is the name of the program that writes the file."""
    return _block(SECTION, _SECTION.pack(BYTE_ORDER, 1, 0, -1) + _options([(APPLICATION, application.encode())]))


def interface(name: str, description: str) -> bytes:
    """Returns the description of an interface. Packets refer to interfaces by their number in the file."""
    options = [(INTERFACE_NAME, name.encode()), (DESCRIPTION, description.encode()), (RESOLUTION, _NANOSECONDS)]
    return _block(INTERFACE, _INTERFACE.pack(LINKTYPE_RAW, 0, 0) + _options(options))


def packet(interface_number: int, time_ns: int, data: bytes, direction: int, comment: str = "") -> bytes:
    """Returns a packet that was seen at `time_ns` after the Unix epoch, with a comment unless it is empty."""
    options = [(COMMENT, _cut(comment.encode(errors="replace")))] if comment else []
    options.append((FLAGS, direction.to_bytes(4, "little")))
    head = _PACKET.pack(interface_number, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), len(data))
    return _block(PACKET, head + data + bytes(-len(data) % 4) + _options(options))


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return _BLOCK.pack(kind, size) + body + _TOTAL.pack(size)


def _options(options: list[tuple[int, bytes]]) -> bytes:
    written = [_OPTION.pack(code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return b"".join(written) + _OPTION.pack(END_OF_OPTIONS, 0)


def _cut(text: bytes) -> bytes:
    return text if len(text) <= COMMENT_BYTES else text[:COMMENT_BYTES].decode(errors="ignore").encode()
