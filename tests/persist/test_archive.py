"""The archive of a model file: one sequence of bytes for given entries, which other programs can read."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.persist._archive import read_archive, write_archive
from lann.persist._errors import InvalidModelFile

ENTRIES = st.dictionaries(
    st.from_regex(r"[a-z_]{1,8}(/[a-z0-9]{1,8}){0,2}\.(json|npy)", fullmatch=True),
    st.binary(max_size=300),
    max_size=6,
)


@given(ENTRIES)
def test_entries_come_back(entries):
    content = write_archive(entries)
    assert {name: bytes(entry) for name, entry in read_archive(content).items()} == entries
    assert write_archive(entries) == content


@given(ENTRIES)
def test_zipfile_reads_the_same(entries):
    with zipfile.ZipFile(io.BytesIO(write_archive(entries))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == entries


@given(ENTRIES.filter(bool), st.data())
def test_every_other_byte_raises(entries, data):
    content = bytearray(write_archive(entries))
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(InvalidModelFile):
        read_archive(bytes(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_of_other_programs_raise(method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("model.json", np.zeros(100).tobytes())
    with pytest.raises(InvalidModelFile, match=r"not a whole file written by lann\.save"):
        read_archive(buffer.getvalue())
