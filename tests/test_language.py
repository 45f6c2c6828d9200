"""One term for one thing: terms that the glossary replaces, and British spellings, do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    path
    for folder, pattern in [
        ("src", "*.py"), ("src", "*.js"), ("benchmarks", "*.py"), ("examples", "*.py"), ("tests", "*.py"),
        ("docs", "*.md"), (".", "README.md"), (".", "CONTRIBUTING.md"),
    ]
    for path in (ROOT / folder).glob(pattern if folder == "." else f"**/{pattern}")
    if path != Path(__file__) and ".originals" not in path.parts
]  # fmt: skip
BRITISH = (
    r"neighbour|colour|centre[ds]?\b|centring|behaviour|favour|\bgrey|licence|judgement|labelled(?!by)|"
    r"travelled|artefact|(minim|maxim|optim|normal|standard|regular|summar|vector|quant|recogn|serial)is(e|ed|es|ing|ation)\b"
)
# The glossary has: class index, position, coordinates; depends on; supports; optimistic; raises; random; ...
DIALECT = (
    r"\bhangs? on\b|\bspeaks? (for|against)\b|\bflatter|\brefuse[ds]?\b|\bby lot\b|\bplaces\b|_places?\b|"
    r"\bplace_|\blike_and_unlike|_unlike\b|\bunlike_|\bjudges\b|\b_hear\b|look_around"
)


@pytest.mark.parametrize("pattern", [BRITISH, DIALECT], ids=["spelling", "terms"])
def test_words_that_do_not_come_back(pattern):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group(0)}"
        for path in FILES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        for match in re.finditer(pattern, line, flags=re.IGNORECASE)
    ]
    assert len(FILES) > 100
    assert found == []
