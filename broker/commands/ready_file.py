"""The file of `odradek serve --ready-file`, which other programs wait for. It exists while the cluster runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ...protocol.regular_files import check_regular, replacing
from ..settings.properties import InvalidConfig


class ReadyFile:
    """A file that is to be written. Raises InvalidConfig if there is something else at the path, such as a device."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_written = False
        try:
            check_regular(path)
        except OSError as error:
            raise InvalidConfig(f"cannot write --ready-file {path}: {error.strerror}") from None

    def write(self, text: str) -> None:
        """Writes the file so that it appears with its whole content. Raises OSError."""
        with replacing(self._path) as file:
            file.write(text.encode())
        self._is_written = True

    def remove(self) -> None:
        """Removes the file if it was written."""
        if self._is_written:
            with suppress(OSError):
                Path(self._path).unlink(missing_ok=True)
