"""Controls that start and stop a capture of what clients and brokers send."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

from ..control_errors import ControlRefused, InvalidControl
from ..frozen_data import FrozenData
from ..settings.properties import InvalidConfig
from .declaration import Controls, control

if TYPE_CHECKING:
    from ..wire.capture_options import CaptureOptions


class CaptureInfo(FrozenData):
    """A capture that has been written: its file, the size of all its files, and the error that ended it, if there was one."""

    file: str
    written_bytes: int
    error: str | None


class CaptureControls(Controls):
    """The capture of a cluster."""

    @control("capture start")
    async def start_capture(
        self,
        file: Annotated[str | os.PathLike[str], "the path of the pcapng file, which is replaced if it exists"],
        addresses: Annotated[Literal["canonical", "real"], "canonical shows node n as 127.0.0.n:9092"] = "canonical",
        max_bytes: Annotated[int | None, "the size at which another file begins; the one before is kept"] = None,
    ) -> None:
        """Writes what all clients and brokers send to a file for Wireshark and `odradek explain`.

        Connections that are open appear from their next request on. Raises ValueError if a capture is being written, or if the file
        cannot be written.
        """
        from ..network.capture import CaptureWriter

        server = self._server
        options = _options(file, addresses, max_bytes)
        if server.capture is not None and not server.capture.ended:
            raise InvalidControl("file", f"a capture is being written to {server.capture.options.file}; stop it first")
        try:
            capture = await server.in_thread(lambda: CaptureWriter(options))
        except OSError as error:
            raise InvalidControl("file", f"cannot write {file}: {error.strerror or error}") from None
        server.follow(capture)

    @control("capture stop")
    async def stop_capture(self) -> CaptureInfo:
        """Ends the capture and returns its size. Raises RuntimeError if none was started."""
        server = self._server
        capture = server.capture
        if capture is None:
            raise ControlRefused("INVALID_REQUEST", "no capture is being written; start one first")
        server.follow(None)
        await server.in_thread(capture.close)
        return CaptureInfo(file=capture.options.file, written_bytes=capture.written_bytes, error=capture.error)


def _options(file: str | os.PathLike[str], addresses: str, max_bytes: int | None) -> CaptureOptions:
    from ..wire.capture_options import PIPE, CaptureOptions

    if os.fspath(file) == PIPE:
        raise InvalidControl("file", "a control cannot write to a pipe; use a path such as orders.pcapng")
    try:
        return CaptureOptions.of(file, addresses, max_bytes)
    except InvalidConfig as error:
        raise InvalidControl.of_call("max_bytes" if max_bytes is not None else "file", str(error)) from None
