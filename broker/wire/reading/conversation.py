"""One TCP connection in a capture: finds the requests and responses in it, and returns them as entries.

A connection is Kafka's if it goes to port 9092 or comes from a capture of odradek, or if the first bytes of its client look like a request.
Captures of others do not say what a request has waited for, nor why a broker has closed a connection; captures of odradek do, in comments.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from struct import Struct

from ....protocol.frame import LENGTH, read_request_header
from ....protocol.messages import load_api
from ....protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from ....protocol.messages.metadata import METADATA, MetadataResponse
from ....protocol.messages.produce import PRODUCE, ProduceRequest
from ....protocol.schema import ZERO_UUID, Message, ProtocolError
from ..exchange import Entry, Event, Exchange, Frame, Moment, client_id_of
from ..packets import ACK, CLOSED, FAULT, FIN, RST, SYN, WAITED, Address
from ..pairing import HEADER_BYTES, HEADLESS, Pairing, RequestStart
from ..redaction import MAX_VERSION, redact_request, redact_response
from .file_format import Packet
from .framing import Framing, TimedFrame
from .reassembly import Direction, ReadBytes
from .segments import TcpSegment

KAFKA_PORT = 9092
INTERFACE_PREFIX = "broker-"
MAX_NAMES = 100_000
MAX_KEY, MAX_REQUEST_BYTES = 127, 1 << 30
PRODUCE_KEY = PRODUCE.key.to_bytes(2, "big")
TLS_HANDSHAKE = b"\x16\x03"
_PLAUSIBLE = Struct(">hhih")


def may_be_request(head: bytes, size: int) -> bool:
    """Returns whether bytes look like the beginning of a request of `size` bytes."""
    if not HEADER_BYTES <= size <= MAX_REQUEST_BYTES or len(head) < _PLAUSIBLE.size:
        return False
    key, version, _, client_id_bytes = _PLAUSIBLE.unpack_from(head)
    return bool(0 <= key <= MAX_KEY and 0 <= version <= MAX_VERSION and -1 <= client_id_bytes <= size - _PLAUSIBLE.size)


class _Request:
    """A request that has not been answered yet."""

    def __init__(self, sequence: int, timed: TimedFrame, software: str) -> None:
        self.sequence = sequence
        self.timed = timed
        self.software = software
        self.start = HEADLESS
        self.has_no_answer = _has_no_answer(timed.frame)
        self.ended = ""


class _Side:
    """The bytes that one side of a connection has sent."""

    def __init__(self, may_begin: Callable[[bytes, int], bool]) -> None:
        self.direction = Direction()
        self.framing = Framing(may_begin)


class Conversation:
    """A connection between a client and a broker.

    `next_sequence` returns the number of the next entry. `topic_names` are the names of topic ids, which connections learn from each other.
    """

    def __init__(
        self,
        client: Address,
        broker: Address,
        number: int,
        interface: str,
        next_sequence: Callable[[], int],
        topic_names: dict[bytes, str],
    ) -> None:
        self.client = client
        self._number = number
        self._peer = _text(client)
        self._listener = _text(broker)
        self._node = _node_of(interface)
        self._next_sequence = next_sequence
        self._topic_names = topic_names
        self._pairing = Pairing[_Request]()
        self._requests = _Side(may_be_request)
        self._responses = _Side(lambda head, _: self._pairing.expects(head))
        self._software = ""
        self._opened_ns: int | None = None
        self.is_kafka = self._node is not None or broker.port == KAFKA_PORT
        self.is_encrypted = self._is_foreign = False
        self._first_bytes = bytearray()
        self.has_ended = False

    @property
    def held_bytes(self) -> int:
        """The bytes that are kept of incomplete frames and of segments that wait for others."""
        return sum(side.framing.held_bytes + side.direction.held_bytes for side in (self._requests, self._responses))

    def add(self, segment: TcpSegment, packet: Packet) -> list[Entry]:
        """Returns the entries that are complete with a segment."""
        from_client = segment.source == self.client
        side, other = (self._requests, self._responses) if from_client else (self._responses, self._requests)
        entries: list[Entry] = []
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence += 1
            side.direction.begin(sequence)
            side.framing.begin()
            if from_client:
                self._opened_ns = packet.time_ns
        if segment.flags & ACK:
            entries += self._read(not from_client, other.direction.acknowledge(segment.acknowledged), packet)
        if segment.size:
            entries += self._read(from_client, side.direction.add(sequence, segment.payload, segment.size), packet)
        if segment.flags & (FIN | RST) and not self.has_ended:
            entries += self._close(segment.flags, packet, by_client=from_client)
        return entries

    def rest(self, time_ns: int) -> list[Entry]:
        """Returns the requests that are still open, because the capture ends."""
        packet = Packet(time_ns, 0, memoryview(b""), (), "")
        entries = self._read(True, self._requests.direction.rest(), packet)
        entries += self._read(False, self._responses.direction.rest(), packet)
        entries += self._incomplete(packet)
        return [*entries, *(self._exchange(request, None) for request in self._pairing.rest())]

    def _incomplete(self, packet: Packet) -> list[Entry]:
        """Adds a request of which only the first bytes have come."""
        frame = self._requests.framing.incomplete
        if frame is None or len(frame.head) < HEADER_BYTES:
            return []
        self._requests.framing.lose()
        return self._add_request(TimedFrame(frame, packet.time_ns, packet.time_ns, packet.comments))

    def _read(self, from_client: bool, found: list[ReadBytes], packet: Packet) -> list[Entry]:
        entries: list[Entry] = []
        framing = (self._requests if from_client else self._responses).framing
        for data, missing in found:
            if missing:
                framing.lose()
            if not data:
                continue
            for timed in framing.add(self._kafka_bytes(data) if from_client else data, packet.time_ns, packet.comments):
                entries += self._add_request(timed) if from_client else self._add_response(timed)
        return entries

    def _kafka_bytes(self, data: bytes) -> bytes:
        """Returns the bytes of the client that are to be read: all if they are Kafka's, none until that is known."""
        if self.is_kafka or self._is_foreign:
            return data if self.is_kafka else b""
        self._first_bytes += data
        first, size = self._first_bytes[LENGTH.size :], int.from_bytes(self._first_bytes[: LENGTH.size], "big", signed=True)
        if self._first_bytes[:2] == TLS_HANDSHAKE or len(first) >= _PLAUSIBLE.size:
            self.is_encrypted = self._first_bytes[:2] == TLS_HANDSHAKE
            self.is_kafka = not self.is_encrypted and may_be_request(bytes(first), size)
            self._is_foreign = not self.is_kafka
        return bytes(self._first_bytes) if self.is_kafka else b""

    def _opening(self) -> list[Entry]:
        """Returns the event that the connection was opened, once, before its first other entry."""
        opened_ns, self._opened_ns = self._opened_ns, None
        if opened_ns is None:
            return []
        return [self._event(opened_ns, "connection opened", f"{self._peer} connects to {self._listener}", {"peer": self._peer})]

    def _add_request(self, timed: TimedFrame) -> list[Entry]:
        entries = self._opening()
        request = _Request(self._next_sequence(), timed, self._software)
        request.start = self._pairing.add_request(timed.frame.head, request)
        self._pairing.request_completed(timed.frame.head)
        if request.start.key == API_VERSIONS.key:
            self._software = _software(timed.frame) or self._software
        without_answer = self._pairing.first_while(lambda first: first.has_no_answer and first is not request)
        return [*entries, *(self._exchange(each, None) for each in (*without_answer, *self._pairing.drop_oldest()))]

    def _add_response(self, timed: TimedFrame) -> list[Entry]:
        unanswered, found = self._pairing.take_request(timed.frame.head)
        entries = [*self._opening(), *(self._exchange(request, None) for request in unanswered)]
        if found is None:
            return entries
        self._pairing.response_completed(found[0], timed.frame.head)
        exchange = self._exchange(found[1], timed)
        if isinstance(response := exchange.response if exchange.api_key == METADATA.key else None, MetadataResponse):
            self._learn_names(response)
        return [*entries, exchange]

    def _learn_names(self, response: MetadataResponse) -> None:
        """Learns the names of topic ids, by which newer requests refer to topics."""
        for topic in response.topics:
            if topic.name is not None and topic.topic_id != ZERO_UUID and len(self._topic_names) < MAX_NAMES:
                self._topic_names[topic.topic_id] = topic.name

    def _close(self, flags: int, packet: Packet, *, by_client: bool) -> list[Entry]:
        """Returns the entries of a connection that one side closes: its open requests, and the event."""
        self.has_ended = True
        if not self.is_kafka:
            return []
        reasons = [line.removeprefix(CLOSED) for comment in packet.comments for line in comment.splitlines() if line.startswith(CLOSED)]
        reason = next(iter(reasons), "")
        how = "RST" if flags & RST else "FIN"
        text = f"{how} by the client" if by_client else f"{how} by the broker{': ' if reason else ''}{reason}"
        entries = [*self._opening(), *self._incomplete(packet)]
        requests = self._pairing.rest()
        if requests:
            # The broker was serving the oldest request. A refused request, or one without a response, is the last.
            refused = requests[-1].has_no_answer or not requests[-1].timed.frame.is_complete
            requests[-1 if refused else 0].ended = text
        fields: dict[str, str | int] = {"peer": self._peer, "by": "client" if by_client else "broker", "how": how}
        if reason:
            fields["reason"] = reason
        entries += (self._exchange(request, None) for request in requests)
        return [*entries, self._event(packet.time_ns, "connection closed", text, fields)]

    def _event(self, time_ns: int, kind: str, text: str, fields: dict[str, str | int]) -> Event:
        return Event(
            sequence=self._next_sequence(),
            at=_moment(time_ns),
            kind=kind,
            node=self._node,
            connection=self._number,
            text=text,
            fields=fields,
        )

    def _exchange(self, request: _Request, answer: TimedFrame | None) -> Exchange:
        frame, start = request.timed.frame, request.start
        shown = Frame(b"", frame.size) if start is HEADLESS else Frame(bytes(redact_request(frame.head)), frame.size)
        notes = list(dict.fromkeys(line for comment in (() if answer is None else answer.comments) for line in comment.splitlines()))
        is_answered = answer is not None or request.has_no_answer
        return Exchange(
            sequence=request.sequence,
            node=self._node,
            listener=self._listener,
            connection=self._number,
            peer=self._peer,
            client_id=client_id_of(shown),
            software=request.software,
            principal="",
            received=_moment(request.timed.ended_ns),
            answered=_moment(request.timed.ended_ns if answer is None else answer.began_ns) if is_answered else None,
            written=None if answer is None else _moment(answer.ended_ns),
            request_frame=shown,
            response_frame=None if answer is None else _visible_response(start, answer.frame),
            waits=tuple(note.removeprefix(WAITED) for note in notes if note.startswith(WAITED)),
            faults=tuple(note.removeprefix(FAULT) for note in notes if note.startswith(FAULT)),
            ended=request.ended,
            topic_names=self._topic_names,
        )


def _visible_response(start: RequestStart, frame: Frame) -> Frame:
    if start.key is None:
        return Frame(b"", frame.size)
    return Frame(bytes(redact_response(load_api(start.key), start.version, frame.head)), frame.size)


def _decode(frame: Frame) -> Message | None:
    """Returns the request in a complete frame, None if it cannot be decoded."""
    try:
        view = memoryview(frame.head)
        header = read_request_header(view)
        if frame.is_complete and header.version in header.api.declared:
            message: Message = header.api.request.decoders[header.version](view, header.position)[0]
            return message
    except ProtocolError:
        pass
    return None


def _has_no_answer(frame: Frame) -> bool:
    """Returns whether a request is a Produce with acks=0."""
    if frame.head[:2] != PRODUCE_KEY:
        return False
    request = _decode(frame)
    return isinstance(request, ProduceRequest) and request.acks == 0


def _software(frame: Frame) -> str:
    """Returns the name and version of a client in its ApiVersions request."""
    request = _decode(frame)
    if not isinstance(request, ApiVersionsRequest):
        return ""
    return f"{request.client_software_name} {request.client_software_version}".strip()


def _text(address: Address) -> str:
    ip = ip_address(address.ip)
    return f"{ip}:{address.port}" if ip.version == 4 else f"[{ip}]:{address.port}"


def _node_of(interface: str) -> int | None:
    """Returns the id of a node in a capture of odradek: that of its interface."""
    digits = interface.removeprefix(INTERFACE_PREFIX)
    return int(digits) if interface != digits and digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _moment(time_ns: int) -> Moment:
    return Moment(time_ns / 1e6, time_ns / 1e6)
