"""Hold our LMNN, GRLVQ, GMLVQ and LGMLVQ against the original programs, side by side on the same splits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from environment import environment_python
from kept import Kept
from rows import Row, table, verdict
from sides import HERE, Pair, Side, choose_pairs
from sklearn.preprocessing import StandardScaler

from lann._files import write_atomically
from lann.bench.methods import all_methods
from lann.bench.paper import DataSet, choose_sets, load_sets
from lann.bench.protocols import N_SPLITS, choose_protocol
from lann.bench.store import digest_of
from lann.cli.consoles import note, results
from lann.cli.errors import one_sentence
from lann.cli.tables import check_output

DATA_SETS = (
    "wine",
    "iris",
    "breast-cancer",
    "ionosphere",
    "digits",
    "outdoor-objects",
    "artificial-classification",
    "image-segmentation",
    "robot-navigation",
)


def write_splits(data: DataSet, folder: Path, seed: int, n_splits: int) -> dict[str, str]:
    """
    Write the splits of `lann bench paper --protocol paper`, scaled by the training part.

    Returns
    -------
    digests
        Of the training parts, by the names of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for number, (train, test) in enumerate(choose_protocol("paper").splits(data.X, data.y, seed, n_splits)):
        name = f"{data.name}-{seed}-{number}"
        digests[name] = digest_of(data.X[train], data.y[train])
        scaler = StandardScaler().fit(data.X[train])
        np.savez(
            folder / f"{name}.npz",
            X_train=scaler.transform(data.X[train]),
            y_train=data.y[train],
            X_test=scaler.transform(data.X[test]),
            y_test=data.y[test],
        )
    return digests


def missing_ours(pairs: list[Pair]) -> list[str]:
    """The names of ours that `lann` does not have."""
    known = {method.name for method in all_methods()}
    return sorted({pair.ours for pair in pairs} - known)


class Comparison:
    """
    Both sides on every split.

    Parameters
    ----------
    original, ours
        The sides.
    kept
        Where measurements of originals are put.
    reuse
        Whether those of earlier runs are taken from there.
    """

    def __init__(self, original: Side, ours: Side, kept: Kept, *, reuse: bool) -> None:
        self.original, self.ours, self.kept, self.reuse = original, ours, kept, reuse
        self.rows: list[Row] = []
        self.n_reused = 0

    def steps(self, splits: dict[str, dict[str, str]], pairs: list[Pair]) -> Iterator[str]:
        """
        Measure ours right after the original, split by split; what is about to run is said before it does.

        A busy spell of the machine then hits both sides alike.

        Parameters
        ----------
        splits
            For each data set, what `write_splits` returned.
        pairs
            What to compare.
        """
        for data_set, digests in splits.items():
            for pair in pairs:
                row = Row(data_set, pair)
                self.rows.append(row)
                for split, digest in digests.items():
                    yield f"{pair.original} on {split}"
                    original = self._original(row, split, digest)
                    yield f"{pair.ours} on {split}"
                    row.ours.append(self.ours.measure(pair.ours, split))
                    row.original.append(original)

    def _original(self, row: Row, split: str, digest: str) -> dict[str, Any]:
        name = row.pair.original
        if self.reuse and (found := self.kept.find(name, split, digest, self.original.time_limit)):
            self.n_reused += 1
            return found
        if row.original and "time_limit" in row.original[-1]:
            return row.original[-1]  # another split would take as long
        measured = self.original.measure(name, split)
        self.kept.keep(name, split, digest, measured)
        return measured

    def caption(self, n_splits: int, seed: int, n_jobs: int) -> str:
        """How the figures came about."""
        said = (
            f"Accuracy: mean ± standard deviation over {n_splits} split(s), trained on 25 %, seed {seed}. "
            f"Seconds: mean time to fit, {n_jobs} thread(s). Ratio: original / ours."
        )
        if self.n_reused:
            said += f" {self.n_reused} measurement(s) of originals are of an earlier run, their seconds too."
        return said


@one_sentence
def compare(
    data_set: Annotated[
        list[str] | None, typer.Option(help=f"Repeatable. Default: {', '.join(DATA_SETS)}.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Ours or an original's, repeatable. Default: all.")
    ] = None,
    n_splits: Annotated[int, typer.Option(min=1, max=N_SPLITS, help="The first so many of the ten.")] = 2,
    seed: Annotated[int, typer.Option(help="Of the splits and the methods; 0 for reported figures.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Threads for both sides.")] = 1,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds for one fit, start included.")] = 600.0,
    keep: Annotated[bool, typer.Option(help="Take over what earlier runs measured of originals.")] = False,
    environment: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Of the old environment, made if absent.")
    ] = HERE / ".originals",
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write all figures to this file.")
    ] = None,
) -> None:
    """Hold our LMNN and LVQ methods against the original programs, side by side on the same splits."""
    console = results()
    if json_file is not None:
        check_output(json_file, kinds=())
    pairs, chosen = choose_pairs(method), choose_sets(data_set or DATA_SETS)
    if missing := missing_ours(pairs):
        note(
            f"lann has no method {', '.join(missing)}, so there is nothing to hold originals against.",
            console,
        )
        pairs = [pair for pair in pairs if pair.ours not in missing]
    data_sets, skipped = load_sets(chosen)
    for name, reason in skipped.items():
        note(f"{name} is left out: {reason}", console)
    if not pairs or not data_sets:
        raise ValueError("There is nothing to compare.")
    environment = environment.resolve()
    with console.status("making the old environment, once"):
        python = environment_python(environment)
    folder = environment / "splits"
    splits = {data.name: write_splits(data, folder, seed, n_splits) for data in data_sets}
    settings = (folder, seed, jobs, time_limit)
    comparison = Comparison(
        Side(str(python), "programs.py", *settings),
        Side(sys.executable, "ours.py", *settings),
        Kept(environment / "measured.json", seed=seed, n_jobs=jobs),
        reuse=keep,
    )
    with console.status("") as status:
        for step in comparison.steps(splits, pairs):
            status.update(step)
    rows = comparison.rows
    console.print(table(rows, comparison.caption(n_splits, seed, jobs)))
    for sentence in verdict(rows):
        console.print(sentence, soft_wrap=True)
    if json_file is not None:
        content = {
            "n_splits": n_splits,
            "seed": seed,
            "n_jobs": jobs,
            "reused": comparison.n_reused,
            "rows": [row.as_dict() for row in rows],
        }
        write_atomically(json_file, f"{json.dumps(content, indent=1)}\n".encode())
        console.print(f"Wrote {json_file}")


if __name__ == "__main__":
    typer.run(compare)
