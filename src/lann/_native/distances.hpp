// Distances of diagonal and matrix metrics between one query and one point: the same bits wherever they are computed.
#pragma once

#include "simd.hpp"

#include <cmath>
#include <limits>

namespace lann {

// Σ w (x − p)²; points p and weights w are double or float, and computed with in double.
template <class P, class W>
LANN_INLINE double diagonal_distance(const double *x, const P *p, const W *w, Index n) {
    return sum(
        n,
        [&](Index i) {
            Lanes difference = load_doubles(x + i) - load_doubles(p + i);
            return load_doubles(w + i) * difference * difference;
        },
        [&](Index i) {
            double difference = x[i] - double(p[i]);
            return double(w[i]) * difference * difference;
        });
}

// Σ a b; a and b are double or float.
template <class A, class B>
LANN_INLINE double dot(const A *a, const B *b, Index n) {
    return sum(
        n, [&](Index i) { return load_doubles(a + i) * load_doubles(b + i); },
        [&](Index i) { return double(a[i]) * double(b[i]); });
}

template <class V>
LANN_INLINE double squared_norm(const V *values, Index n) {
    return dot(values, values, n);
}

// Write `N` times four columns of Ωᵀ z; their sums stay in registers.
template <int N, class M>
LANN_INLINE void project_columns(const double *step, const M *columns, Index n_axes, Index rank, double *out) {
    Lanes sums[N]{};
    for (Index a = 0; a < n_axes; ++a)
        for (int i = 0; i < N; ++i) sums[i] += step[a] * load_doubles(columns + a * rank + 4 * i);
    for (int i = 0; i < N; ++i) store(out + 4 * i, sums[i]);
}

// Write Ωᵀ z to `out` (rank), every entry added up over the axes in order.
// step z : (n_axes,); own Ω : (n_axes, rank), double or float
template <class M>
LANN_INLINE void project(const double *__restrict step, const M *__restrict own, Index n_axes, Index rank,
                         double *__restrict out) {
    if (rank < 4 || rank > 16) {  // row by row, four at a time for fewer writes
        for (Index r = 0; r < rank; ++r) out[r] = 0.0;
        Index a = 0;
        for (; a + 4 <= n_axes; a += 4) {
            const double s0 = step[a], s1 = step[a + 1], s2 = step[a + 2], s3 = step[a + 3];
            const M *row0 = own + a * rank, *row1 = row0 + rank, *row2 = row1 + rank, *row3 = row2 + rank;
            for (Index r = 0; r < rank; ++r)
                out[r] = (((out[r] + s0 * row0[r]) + s1 * row1[r]) + s2 * row2[r]) + s3 * row3[r];
        }
        for (; a < n_axes; ++a)
            for (Index r = 0; r < rank; ++r) out[r] += step[a] * own[a * rank + r];
        return;
    }
    if (rank == 16) return project_columns<4>(step, own, n_axes, rank, out);
    if (rank >= 8) project_columns<2>(step, own, n_axes, rank, out);
    if (rank < 8 || rank >= 12) project_columns<1>(step, own + rank / 8 * 8, n_axes, rank, out + rank / 8 * 8);
    if (rank % 4) project_columns<1>(step, own + rank - 4, n_axes, rank, out + rank - 4);
}

// ‖Ωᵀ (x − p)‖²; an overflow is infinitely far. `step` (n_axes) and `projected` (rank) are written.
template <class M>
LANN_INLINE double matrix_distance(const double *x, const double *p, const M *own, Index n_axes, Index rank,
                                   double *step, double *projected) {
    for (Index a = 0; a < n_axes; ++a) step[a] = x[a] - p[a];
    project(step, own, n_axes, rank, projected);
    const double squared = squared_norm(projected, rank);
    return std::isnan(squared) ? std::numeric_limits<double>::infinity() : squared;
}

// An upper bound of the error of the lifted product, for a point within squared `distance`: see `rounding_bound` of
// lann.metric.
LANN_INLINE double rounding_bound(double size, double distance, double rounding) {
    const double reach = std::sqrt(distance) + std::sqrt(size);
    return rounding * 2.0 * (size + reach * reach);
}

}  // namespace lann
