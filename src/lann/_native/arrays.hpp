// Views of NumPy arrays: pointers with sizes, checked where they cross from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace nb = nanobind;

namespace lann {

using Index = std::int64_t;

// A contiguous array of N dimensions that does not own its values; `a(i, j)` is a value, `a[i]` the view of a row.
template <class T, int N>
struct Array {
    T *data = nullptr;
    std::array<Index, N> shape{};

    Index size(int axis) const { return shape[axis]; }
    Index size() const {
        Index product = 1;
        for (Index length : shape) product *= length;
        return product;
    }
    T *begin() const { return data; }
    T *end() const { return data + size(); }

    template <class... I>
    T &operator()(I... index) const {
        static_assert(sizeof...(I) == N, "one index per dimension");
        Index offset = 0;
        int axis = 0;
        ((check_index(axis, index), offset = offset * shape[axis] + Index(index), ++axis), ...);
        return data[offset];
    }

    decltype(auto) operator[](Index index) const {
        check_index(0, index);
        if constexpr (N == 1) {
            return static_cast<T &>(data[index]);
        } else {
            Array<T, N - 1> row;
            Index length = 1;
            for (int axis = 1; axis < N; ++axis) {
                row.shape[axis - 1] = shape[axis];
                length *= shape[axis];
            }
            row.data = data + index * length;
            return row;
        }
    }

    operator Array<const T, N>() const { return {data, shape}; }

private:
    void check_index([[maybe_unused]] int axis, [[maybe_unused]] Index index) const {
#ifdef LANN_CHECKED
        if (index < 0 || index >= shape[axis]) __builtin_trap();
#endif
    }
};

using Floats = Array<double, 1>;
using Floats2 = Array<double, 2>;
using Floats3 = Array<double, 3>;
using ConstFloats = Array<const double, 1>;
using ConstFloats2 = Array<const double, 2>;
using ConstFloats3 = Array<const double, 3>;
using Indices = Array<std::int64_t, 1>;
using Indices2 = Array<std::int64_t, 2>;
using Flags = Array<std::uint8_t, 1>;
using Flags2 = Array<std::uint8_t, 2>;
using ConstFlags = Array<const std::uint8_t, 1>;
using ConstIndices = Array<const std::int64_t, 1>;
using ConstIndices2 = Array<const std::int64_t, 2>;

[[noreturn]] __attribute__((noinline, cold)) inline void fail(const char *what) {
    throw std::invalid_argument(std::string("sizes do not agree: ") + what);
}

// Raise ValueError in Python unless sizes agree: the last check before memory is read.
inline void require(bool agrees, const char *what) {
    if (!agrees) fail(what);
}

}  // namespace lann

namespace nanobind::detail {

// Contiguous NumPy arrays of exactly this type and number of dimensions, without copies.
template <class T, int N>
struct type_caster<lann::Array<T, N>> {
    using Source = ndarray<T, numpy, ndim<N>, c_contig, device::cpu>;
    using View = lann::Array<T, N>;
    NB_TYPE_CASTER(View, make_caster<Source>::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list *cleanup) noexcept {
        if (!array.from_python(source, flags & ~(uint8_t) cast_flags::convert, cleanup)) return false;
        const Source &found = array.value;
        value.data = found.data();
        for (int axis = 0; axis < N; ++axis) value.shape[axis] = lann::Index(found.shape(axis));
        return true;
    }

    make_caster<Source> array;  // keeps the array alive during the call
};

}  // namespace nanobind::detail
