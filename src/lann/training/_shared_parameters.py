"""What all points share, curves, a map and class weights, as parameters with gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, Levels
from lann.training._adam import Adam
from lann.training._curve_kernels import backward_points, bend, gather_bins, renumber
from lann.training._kernels import backward_weights, forward
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings, restraint
from lann.vote import LOSSES, losses

# Strengths of the pull toward equal, straight curves, axes that are the features, and equal classes.
PULL = {"height": 0.5, "bin": 0.5, "kink": 0.7, "map": 5.0, "class_height": 2.0, "class": 7.0}
# The map learns more slowly than the rest: every entry moves all points.
MAP_RATE = 0.2
# An entry of the map returns to where it started, unless its gradients agree: their mean has to exceed this
# part of their root mean square. Most pairs of features have nothing to do with each other.
AGREEMENT = 0.2
LARGEST_ENTRY = 20.0
# Products with a map of so many numbers are spread over threads, so many rows at a time.
LARGE_MAP = 64 * 64
ROW_BLOCK = 512


class SharedStage:
    """Parameters of curves, map and class weights, and their gradients.

    A slope is exp(height_l + bin_lb); a class weight is exp(class_height_c + class_ca).
    """

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self.settings = settings
        self.X, self.labels = levels.X, levels.labels
        self.votes = settings.class_weights_of(len(levels.class_log_weights))
        self.curves = levels.curves
        bins, self._offsets = self.curves.locate(self.X)
        features = np.arange(self.X.shape[1])
        self._cells = (features * self.curves.n_bins + bins).astype(np.uint32)
        self._place = np.full(len(self.X), -1)
        self._everyone = np.arange(len(self.X))
        self._used_bins = self.curves.used
        log_slopes = np.log(self.curves.slopes)
        self.height = log_slopes.mean(axis=1)
        self.bin = log_slopes - self.height[:, None]
        self.class_height = levels.class_log_weights.mean(axis=1)
        self.by_class = levels.class_log_weights - self.class_height[:, None]
        self._adam = {
            name: Adam(array)
            for name, array in (
                ("height", self.height),
                ("bin", self.bin),
                ("class_height", self.class_height),
                ("class", self.by_class),
            )
        }
        self.map = levels.components
        self._home = np.empty((0, 0)) if levels.components is None else levels.components
        self.map_learns = False

    def unlock_map(self) -> None:
        """From now on the map is learned, too; without one the axes have been the features."""
        n_features = self.X.shape[1]
        square = self.map is None or self.map.shape[0] == n_features
        self.map = np.eye(n_features) if self.map is None else self.map.copy()
        # Pulled toward the features themselves, or toward its start where it has fewer axes.
        self._home = np.eye(n_features) if square else self.map.copy()
        self._adam["map"] = Adam(self.map)
        self.map_learns = True

    def without(self, level: str) -> SharedStage | None:
        """The same stage with a level left out and no longer learned; None where it is not learned anyway."""
        settings, curves = self.settings, self.curves
        levels = Levels(self.X, self.labels, curves, self.class_log_weights, np.empty((0, 0)), self.map)
        n_features = self.X.shape[1]
        if level == "class" and settings.class_metrics:
            settings = settings.replace(class_metrics=False)
            levels = levels.replace(class_log_weights=np.zeros_like(levels.class_log_weights))
        elif level == "map" and self.map_learns and len(self._home) == n_features:
            settings = settings.replace(linear_map=False)
            levels = levels.replace(components=None)
        elif level == "curves" and settings.curves and curves.n_bins > 1:
            settings = settings.replace(straight=True)
            straight = np.repeat(np.exp(self.height)[:, None], curves.n_bins, axis=1)
            levels = levels.replace(curves=curves.with_slopes(straight))
        else:
            return None
        other = SharedStage(levels, settings)
        if self.map_learns and settings.linear_map:
            other.unlock_map()
            other._home = self._home
        return other

    @property
    def class_log_weights(self) -> Floats:
        return self.class_height[:, None] + self.by_class

    @property
    def points(self) -> Floats:
        """All points along the axes, as curves and map are now."""
        return self._turn(self._bend(self._everyone))

    def metric(self) -> DiagonalMetric:
        """How the points of each class measure now."""
        return Levels.metric_of_classes(self.points, self.labels, self.class_log_weights)

    def loss(
        self, rows: Indices, candidates: Indices, alive: NDArray, scales: Floats, epsilon: float
    ) -> tuple[float, dict[str, Floats]]:
        """The mean loss of a batch and its gradient for each parameter, without the pull.

        scales : (n_axes,) 1, or 0 for an axis dropped from this batch
        """
        settings = self.settings
        weights = np.exp(self.class_log_weights)
        used, rows, candidates = renumber(rows, candidates, alive, self._place)
        labels = self.labels[used]
        curved = self._bend(used)
        points = self._turn(curved)
        near, distances, counts = forward(
            rows, candidates, alive, scales, points, weights, labels, epsilon, settings.n_neighbors
        )
        loss, loss_slopes = losses(
            LOSSES[settings.loss], distances, labels[near], labels[rows], counts,
            settings.power, settings.strength, self.votes,
        )  # fmt: skip
        loss_slopes /= len(rows)
        gradient: dict[str, Floats] = {}
        if settings.curves or self.map_learns:
            point_gradient = backward_points(rows, near, counts, loss_slopes, scales, points, weights, labels)
            if self.map_learns:
                gradient["map"] = self._in_blocks(
                    lambda part: point_gradient[part].T @ curved[part], len(curved), _total
                )
            if settings.curves:
                gradient |= self._curve_gradient(used, point_gradient)
        if settings.class_metrics:
            gradient["class"] = np.zeros(weights.shape)
            backward_weights(
                rows, near, counts, loss_slopes, scales, points, weights, labels, gradient["class"]
            )
            gradient["class_height"] = gradient["class"].sum(axis=1)
        return loss, gradient

    def _curve_gradient(self, used: Indices, point_gradient: Floats) -> dict[str, Floats]:
        along_features = point_gradient
        axes = self.map
        if axes is not None:
            along_features = self._in_blocks(
                lambda part: point_gradient[part] @ axes, len(used), np.concatenate
            )
        sums, moments = np.zeros(self.curves.slopes.shape), np.zeros(self.curves.slopes.shape)
        gather_bins(self._cells, self._offsets, used, along_features, sums, moments)
        by_bin = self.curves.slope_gradient(sums, moments) * self.curves.slopes
        return {"bin": by_bin, "height": by_bin.sum(axis=1)}

    def pull(self) -> dict[str, Floats]:
        """The gradient of the penalties."""
        strength = self.settings.alpha * restraint(len(self.X)) / len(self.X)
        bin_pull = PULL["bin"] * self.bin
        kinks = PULL["kink"] * np.diff(self.bin, axis=1) * self._used_bins[:, 1:]
        bin_pull[:, 1:] += kinks
        bin_pull[:, :-1] -= kinks
        pull = {
            "height": strength * PULL["height"] * (self.height - self.height.mean()),
            "bin": strength * bin_pull,
            "class_height": strength * PULL["class_height"] * self.class_height,
            "class": strength * PULL["class"] * self.by_class,
        }
        if self.map_learns and self.map is not None:
            pull["map"] = strength * PULL["map"] * (self.map - self._home)
        return pull

    def step(self, gradient: dict[str, Floats], rate: float) -> None:
        pull = self.pull()
        for name, values in gradient.items():
            values += pull[name]
            if name == "bin":
                values *= 0.0 if self.settings.straight else self._used_bins
            self._adam[name].step(values, MAP_RATE * rate if name == "map" else rate)
        self._constrain(rate)

    def _constrain(self, rate: float) -> None:
        """Fix what the loss leaves free: the overall scale, and what curves and classes share."""
        if self.settings.curves:
            self.height -= self.height.max()  # no exponential may overflow
            self.height -= 0.5 * np.log(np.mean(np.exp(2.0 * self.height)))
            np.maximum(self.height, -4.0, out=self.height)
            np.clip(self.bin, -3.0, 3.0, out=self.bin)
            self.curves = self.curves.with_slopes(np.exp(self.height[:, None] + self.bin))
        if self.map_learns and self.map is not None:
            self.map -= self._home
            np.clip(self.map, -LARGEST_ENTRY, LARGEST_ENTRY, out=self.map)
            back = AGREEMENT * MAP_RATE * rate
            self.map -= np.clip(self.map, -back, back)
            self.map += self._home
        if self.settings.class_metrics:
            np.clip(self.class_height, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=self.class_height)
            np.clip(self.by_class, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=self.by_class)
            self.class_height -= self.class_height.mean()
            self.by_class -= self.by_class.mean(axis=0)

    def _bend(self, used: Indices) -> Floats:
        return bend(self._cells, self._offsets, used, self.curves.starts, self.curves.slopes)

    def _turn(self, curved: Floats) -> Floats:
        if self.map is None:
            return curved
        axes = self.map.T
        return self._in_blocks(lambda part: curved[part] @ axes, len(curved), np.concatenate)

    def _in_blocks(
        self, product: Callable[[slice], Floats], n_rows: int, join: Callable[[list[Floats]], Floats]
    ) -> Floats:
        """A product with the map, where it is large on threads: the blocks do not depend on their number."""
        if self._home.size < LARGE_MAP:
            return join([product(slice(0, n_rows))])
        return join(map_blocks(product, n_rows, ROW_BLOCK, n_jobs=self.settings.n_jobs))


def _total(parts: list[Floats]) -> Floats:
    return np.sum(parts, axis=0)
