"""A control for tests of what follows from the declaration of a control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

import pytest

from odradek.broker.controls.declaration import CONTROLS, Control, Controls, PythonOnly, control
from odradek.broker.controls.parameters import Duration, NodeId


class SampleControls(Controls):
    @control("sample do")
    async def sample(
        self,
        node: NodeId,
        pause: Duration | None = None,
        *,
        names: Annotated[Sequence[str] | str, "names"] = (),
        when: Annotated[Callable[[], bool] | None, "a function", PythonOnly] = None,
        flag: Annotated[bool, "a flag"] = True,
    ) -> Mapping[str, int]:
        """Does a sample."""
        raise NotImplementedError


SAMPLE = CONTROLS.pop(("sample", "do"))


@pytest.fixture
def declared_sample() -> Iterator[Control]:
    CONTROLS[SAMPLE.words] = SAMPLE
    yield SAMPLE
    del CONTROLS[SAMPLE.words]
