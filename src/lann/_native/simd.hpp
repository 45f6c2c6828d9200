// Vectors of fixed width, and kernels compiled for several instruction sets of which the widest is chosen at run time.
//
// A sum runs over the lanes of a vector of fixed width and is then added up in a fixed order, so that its bits do not
// depend on the instruction set: a processor with narrower registers executes several instructions per vector.
#pragma once

#include "arrays.hpp"

#include <cstring>

#define LANN_INLINE inline __attribute__((always_inline))
#if defined(__clang__)  // which prefers wide vectors, and ignores all of an attribute of which it does not know a part
#define LANN_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#else
#define LANN_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
#endif

namespace lann {

enum class Level { baseline, avx2, avx512 };

// The level at which wide kernels run: set once on import (see module.cpp).
extern Level level;

// Four doubles; eight floats.
using Lanes = double __attribute__((vector_size(32)));
using FloatLanes = float __attribute__((vector_size(32)));

template <class V, class T>
LANN_INLINE V load(const T *data) {
    V lanes;
    std::memcpy(&lanes, data, sizeof(V));
    return lanes;
}

template <class V, class T>
LANN_INLINE void store(T *data, V lanes) {
    std::memcpy(data, &lanes, sizeof(V));
}

// Four doubles, from doubles or from floats.
LANN_INLINE Lanes load_doubles(const double *data) { return load<Lanes>(data); }
LANN_INLINE Lanes load_doubles(const float *data) {
    return Lanes{double(data[0]), double(data[1]), double(data[2]), double(data[3])};
}

LANN_INLINE double add_lanes(Lanes v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// Sum over `n` terms: `wide(i)` returns the Lanes of terms i to i + 3, `single(i)` one term.
template <class Wide, class Single>
LANN_INLINE double sum(Index n, Wide wide, Single single) {
    Lanes total{};
    Index i = 0;
    if (n >= 16) {
        Lanes second{}, third{}, fourth{};
        for (; i + 16 <= n; i += 16) {
            total += wide(i);
            second += wide(i + 4);
            third += wide(i + 8);
            fourth += wide(i + 12);
        }
        total = (total + second) + (third + fourth);
    }
    for (; i + 4 <= n; i += 4) total += wide(i);
    double rest = add_lanes(total);
    for (; i < n; ++i) rest += single(i);
    return rest;
}

// Call `Body`, an always-inline function, compiled for the widest vectors of the processor.
template <auto Body>
struct Wide;

template <class R, class... A, R (*Body)(A...)>
struct Wide<Body> {
    static R baseline(A... arguments) { return Body(arguments...); }
#if defined(__x86_64__)
    __attribute__((target("avx2"))) static R avx2(A... arguments) { return Body(arguments...); }
    LANN_AVX512 static R avx512(A... arguments) { return Body(arguments...); }
    static R run(A... arguments) {
        if (level == Level::avx512) return avx512(arguments...);
        if (level == Level::avx2) return avx2(arguments...);
        return baseline(arguments...);
    }
#else
    static R run(A... arguments) { return Body(arguments...); }
#endif
};

// Bind a kernel that runs without the lock of the interpreter; `def_wide` at the widest level.
template <class F, class... Extra>
void def(nb::module_ &m, const char *name, F function, const Extra &...extra) {
    m.def(name, function, nb::call_guard<nb::gil_scoped_release>(), extra...);
}

template <auto Body, class... Extra>
void def_wide(nb::module_ &m, const char *name, const Extra &...extra) {
    def(m, name, &Wide<Body>::run, extra...);
}

}  // namespace lann
