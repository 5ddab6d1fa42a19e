"""The decorator that makes a pytest test of a coroutine function with a simulation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .seeds import Test

DEFAULT_SEEDS = 100
FIXTURE = "kafka_simulations"
"""The fixture of the plugin that runs the seeds of a test."""


class Runner(Protocol):
    """The value of the fixture."""

    def run(self, test: Test, seeds: int | None, seeds_s: float | None) -> None:
        """Runs the seeds of a test. Raises what a seed raises."""


def simulation(
    seeds: int | None = None, *, seeds_s: float | None = None
) -> Callable[[Callable[..., Coroutine[Any, Any, object]]], Callable[..., None]]:
    """Returns a decorator for a test `async def test_orders(sim)`, which is run with the seeds 0, 1, 2 and so on until one fails.

        @odradek.simulation(seeds=1000)
        async def test_orders(sim):
            cluster = await sim.cluster(nodes=2, topics={"orders": 4})

    `seeds` is the number of seeds and `seeds_s` the time for them in seconds; with both, the first limit ends the test, and without both,
    100 seeds are run. Further parameters of the test are fixtures, whose values all runs share.
    """
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1):
        raise ValueError(f"seeds must be a number of seeds such as 1000, not {seeds!r}; write @odradek.simulation(seeds=1000)")
    if seeds_s is not None and seeds_s <= 0:
        raise ValueError(f"seeds_s must be a number of seconds above 0, not {seeds_s!r}")
    number = DEFAULT_SEEDS if seeds is None and seeds_s is None else seeds

    def decorate(test: Callable[..., Coroutine[Any, Any, object]]) -> Callable[..., None]:
        parameters = list(inspect.signature(test).parameters.values())
        if not inspect.iscoroutinefunction(test) or not parameters:
            raise TypeError(f"{test.__qualname__} must be `async def {test.__name__}(sim)`")

        @wraps(test)
        def run_seeds(**fixtures: Any) -> None:
            runner: Runner = fixtures.pop(FIXTURE)
            runner.run(lambda sim: test(sim, **fixtures), number, seeds_s)

        fixture = inspect.Parameter(FIXTURE, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        del run_seeds.__wrapped__  # pytest would look for fixtures in the signature of the coroutine function
        run_seeds.__signature__ = inspect.Signature([fixture, *parameters[1:]])  # type: ignore[attr-defined]
        return run_seeds

    return decorate
