"""Keeps the losses, decides when to stop, and tells whoever listens how training goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lann.metrics import Levels


@dataclass(frozen=True)
class Epoch:
    """What a listener hears: where training stands, and how to get the model as it is now."""

    stage: str
    number: int
    n_epochs: int
    loss: float
    held_out_loss: float | None
    levels: Callable[[], Levels]

    def __str__(self) -> str:
        validation = "" if self.held_out_loss is None else f", validation loss {self.held_out_loss:.4f}"
        return f"epoch {self.number}/{self.n_epochs}, {self.stage}: loss {self.loss:.4f}{validation}"


# Returns whether the stage should end.
Listener = Callable[[Epoch], bool]


@dataclass
class Monitor:
    """Follows training over its stages.

    Training ends when a listener asks for it; a stage, where losses of held-out queries are given, when the
    best of them is `patience` epochs old. `left_out` names the levels that did not help.
    """

    n_epochs: int
    listener: Listener | None = None
    patience: int = 3
    tolerance: float = 1e-4
    losses: list[float] = field(default_factory=list)
    held_out_losses: list[float] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    told_to_stop: bool = False

    def run(
        self,
        stage: str,
        n_epochs: int,
        learn: Callable[[int], float],
        snapshot: Callable[[], Levels],
        held_out_loss: Callable[[], float] | None = None,
        give_up: Callable[[int], bool] | None = None,
    ) -> Levels:
        """Run a stage to its end, or until someone says stop, and return its best model.

        Parameters
        ----------
        learn : learns for one epoch, given its number, and returns the training loss
        snapshot : the model as it is now
        held_out_loss : the loss of the held-out queries now; without it, the last model is the best
        give_up : asked before each epoch, given its number, whether to end the stage
        """
        best = snapshot()
        self.start_stage(stage)
        for number in range(n_epochs):
            if give_up is not None and give_up(number):
                break
            loss = learn(number)
            stop = self.epoch(loss, None if held_out_loss is None else held_out_loss(), snapshot)
            if held_out_loss is None or self.is_best:
                best = snapshot()
            if stop:
                break
        return best

    def start_stage(self, name: str) -> None:
        self._stage = name
        self.forget_best()

    def forget_best(self) -> None:
        """Whatever comes next is the best so far: what came before is another model."""
        self._best = float("inf")
        self._age = 0

    def epoch(self, loss: float, held_out: float | None, snapshot: Callable[[], Levels]) -> bool:
        """Record an epoch; True if the stage should end."""
        self.losses.append(loss)
        stop = False
        if held_out is not None:
            self.held_out_losses.append(held_out)
            self._age += 1
            if held_out < self._best - self.tolerance:
                self._best, self._age = held_out, 0
            stop = self._age >= self.patience
        if self.listener is not None:
            number = len(self.losses)
            self.told_to_stop = bool(
                self.listener(Epoch(self._stage, number, self.n_epochs, loss, held_out, snapshot))
            )
        return stop or self.told_to_stop

    @property
    def is_best(self) -> bool:
        """Whether the latest epoch of this stage had the lowest held-out loss so far."""
        return self._age == 0
