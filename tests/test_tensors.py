"""Safetensors files that are written here: the library reads what went in."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import load

from cooperation.io.tensors import TYPES, header_of, write_tensors

ARRAYS = st.sampled_from(sorted(TYPES)).flatmap(lambda kind: arrays(kind, array_shapes(min_dims=0, min_side=0)))


@given(st.dictionaries(st.text(min_size=1).filter(lambda name: name != "__metadata__"), ARRAYS, max_size=4), st.text())
def test_the_library_reads_what_was_written(given, text):
    written = io.BytesIO()
    write_tensors(written, given, {"said": text})
    found = load(written.getvalue())
    assert found.keys() == given.keys()
    for name, array in given.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
    assert header_of(written.getvalue())["__metadata__"] == {"said": text}


def test_an_array_that_is_not_contiguous_is_written_in_order():
    written, array = io.BytesIO(), np.arange(12, dtype=np.float32).reshape(3, 4).T
    write_tensors(written, {"a": array}, {})
    assert np.array_equal(load(written.getvalue())["a"], array)


def test_other_types_are_refused():
    with pytest.raises(KeyError, match="complex64"):
        write_tensors(io.BytesIO(), {"a": np.zeros(1, np.complex64)}, {})
