"""Compiles the codec of a message in one version: Python source is generated from the declared fields and executed once.

The source is one function per message and version, without loops over fields and without calls for nested structures. HeartbeatRequest
of version 4, whose fields are two strings, an int32 and a nullable string, becomes this decoder (shortened):

    def decode(b, p):
        e = len(b)
        try:
            m = new(HeartbeatRequest)
            n1 = b[p]
            p += 1
            if n1 > 127:
                n1, p = uvarint_rest(b, n1, p)
                if n1 > 32768:
                    fail('string', n1 - 1)
            n1 -= 1
            if n1 < 0:
                fail('group_id', n1)
            else:
                q2 = p + n1
                if q2 > e:
                    fail('group_id', n1)
                m.group_id = str(b[p:q2], 'utf-8')
                p = q2
            m.generation_id, = S3(b, p)
            p += 4
            ...
            return m, p
        except (struct_error, IndexError):
            raise ProtocolError('HeartbeatRequest v4 ends early') from None
        except UnicodeDecodeError:
            raise ProtocolError('HeartbeatRequest v4 has a string that is not UTF-8') from None

It is fast because successive fields of fixed width are read by one `struct` call, the one-byte case of a length is inline, nested
structures are inline loops, and record bytes are slices of the frame. Before memory is allocated, each length that a peer sends is
compared with the bytes that remain, and each array's count with the fewest bytes that so many items can take (CVE-2022-34917).
A string that is not UTF-8 is an error instead of being repaired, because a replacement character takes three bytes in place of one: a
name that was read could become too long to be written.

Codecs are also compiled as generators that yield between slices of array items. Long responses are encoded by them, and large requests are
decoded by them; such a decoder also limits the number of items, because an item of a few bytes becomes objects of hundreds.

`source.py` stores the lines and constants of a function; `decoders.py`, `encoders.py` and `initializers.py` add the lines.
"""

from __future__ import annotations

from .decoders import compile_decoder, compile_sliced_decoder
from .encoders import compile_encoder, compile_sliced_encoder
from .initializers import compile_init
from .source import MAX_ITEMS, MAX_STRING_BYTES

__all__ = [
    "MAX_ITEMS",
    "MAX_STRING_BYTES",
    "compile_decoder",
    "compile_encoder",
    "compile_init",
    "compile_sliced_decoder",
    "compile_sliced_encoder",
]
