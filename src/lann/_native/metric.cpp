// Distances of diagonal and matrix metrics, and the axes on which they measure.
#include "distances.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace lann {

// Squared distances of each query to its candidates. `owners` tells which of the weights are those of each point;
// where it is empty, its own. One row of weights is shared by all.
template <class P, class W>
LANN_INLINE void measure_diagonal(ConstFloats2 queries, Array<const P, 2> points, Array<const W, 2> weights,
                                  ConstIndices owners, ConstIndices2 candidates, Floats2 out) {
    const Index n_axes = points.size(1), n_candidates = candidates.size(1);
    require(queries.size(1) == n_axes && weights.size(1) == n_axes, "axes");
    require(out.shape == candidates.shape && queries.size(0) == candidates.size(0), "queries");
    const Index stride = weights.size(0) > 1 ? n_axes : 0;
    const Index *owner = owners.size() ? owners.data : nullptr;
    for (Index query = 0; query < candidates.size(0); ++query) {
        const double *x = queries[query].data;
        for (Index pair = query * n_candidates; pair < (query + 1) * n_candidates; ++pair) {
            const Index j = candidates.data[pair];
            const W *w = weights.data + (owner ? owner[j] : j) * stride;
            out.data[pair] = diagonal_distance(x, points.data + j * n_axes, w, n_axes);
        }
    }
}

// Squared distances under the matrix of each point. `order` are the pairs in the order in which they are measured.
template <class M>
LANN_INLINE void measure_matrices(ConstFloats2 queries, ConstFloats2 points, Array<const M, 3> matrices,
                                  ConstIndices2 candidates, ConstIndices order, Floats2 out) {
    const Index n_axes = matrices.size(1), rank = matrices.size(2), n_candidates = candidates.size(1);
    require(queries.size(1) == n_axes && points.size(1) == n_axes, "axes");
    require(out.shape == candidates.shape && queries.size(0) == candidates.size(0), "queries");
    require(order.size() == candidates.size() && points.size(0) == matrices.size(0), "pairs");
    std::vector<double> step(n_axes), projected(rank);
    for (Index pair : order) {
        const Index j = candidates.data[pair];
        out.data[pair] = matrix_distance(queries[pair / n_candidates].data, points[j].data, matrices[j].data, n_axes,
                                         rank, step.data(), projected.data());
    }
}

// Λ_j z of each step z : (n_pairs, n_axes), with Λ_j = Ω_j Ω_jᵀ for the matrix j of the pair.
template <class M>
LANN_INLINE void multiply_metrics(ConstFloats2 steps, Array<const M, 3> matrices, ConstIndices candidates,
                                  ConstIndices order, Floats2 out) {
    const Index n_axes = matrices.size(1), rank = matrices.size(2), n_pairs = candidates.size();
    require(steps.size(1) == n_axes && out.shape == steps.shape, "axes");
    require(order.size() == n_pairs && steps.size(0) == n_pairs, "pairs");
    std::vector<double> projected(rank);
    for (Index pair : order) {
        const M *own = matrices[candidates[pair]].data;
        project(steps[pair].data, own, n_axes, rank, projected.data());
        for (Index a = 0; a < n_axes; ++a) out(pair, a) = dot(own + a * rank, projected.data(), rank);
    }
}

// rows · matrix, added up in order: the result of a row does not depend on the other rows, as it would with BLAS.
LANN_INLINE void multiply_rows(ConstFloats2 rows, ConstFloats2 matrix, Floats2 out) {
    const Index n_rows = rows.size(0), n_inner = matrix.size(0), n_columns = matrix.size(1);
    require(rows.size(1) == n_inner && out.size(0) == n_rows && out.size(1) == n_columns, "matrix");
    for (Index i = 0; i < n_rows; ++i) project(rows[i].data, matrix.data, n_inner, n_columns, out[i].data);
}

// How many of ascending values are at most x; all of them for NaN, as NumPy counts.
LANN_INLINE Index count_up_to(ConstFloats values, double x) {
    Index first = 0, n = values.size();
    for (; n > 32; n -= n / 2) first += (n / 2) * Index(!(values[first + n / 2 - 1] > x));
    Index count = first;
    for (Index e = first; e < first + n; ++e) count += !(values[e] > x);
    return count;
}

// The sum of the first `n` of `steps`; `sums` holds those of the first `known`.
template <class Steps>
LANN_INLINE double sum_of_first(Index n, Floats sums, Index &known, Steps steps) {
    for (; known < n; ++known) sums[known + 1] = sums[known] + steps(known);
    return sums[n];
}

// The values on monotone curves: see `FeatureCurves`, whose arrays these are. Bins and thresholds are found by
// bisection; the starts of bins and the sums of jumps are computed when they are first needed.
LANN_INLINE void curve_values(ConstFloats2 X, ConstFloats2 edges, ConstFloats2 slopes, ConstFloats2 widths,
                              ConstFloats2 thresholds, ConstFloats2 jumps, Floats2 out) {
    const Index n_features = X.size(1), n_edges = edges.size(1), n_steps = thresholds.size(1);
    require(out.shape == X.shape && edges.size(0) == n_features && thresholds.size(0) == n_features, "features");
    require(slopes.size(0) == n_features && slopes.size(1) == n_edges + 1 && widths.shape == slopes.shape, "bins");
    require(jumps.shape == thresholds.shape, "thresholds");
    const std::unique_ptr<double[]> sums(new double[n_features * (n_edges + n_steps + 2)]);
    std::vector<Index> n_starts(n_features), n_heights(n_features);
    const Floats2 starts{sums.get(), {n_features, n_edges + 1}};
    const Floats2 heights{starts.end(), {n_features, n_steps + 1}};
    for (Index f = 0; f < n_features; ++f) starts(f, 0) = heights(f, 0) = 0.0;
    for (Index i = 0; i < X.size(0); ++i) {
        for (Index f = 0; f < n_features; ++f) {
            const double x = X(i, f);
            const Index bin = count_up_to(edges[f], x);
            const double origin = n_edges ? edges(f, std::max<Index>(bin - 1, 0)) : 0.0;
            double value = sum_of_first(bin, starts[f], n_starts[f], [&](Index b) { return slopes(f, b) * widths(f, b); });
            value += slopes(f, bin) * (x - (std::isfinite(origin) ? origin : 0.0));
            if (n_steps) {
                const Index n_left = count_up_to(thresholds[f], x);
                value += sum_of_first(n_left, heights[f], n_heights[f], [&](Index t) { return jumps(f, t); });
            }
            out(i, f) = value;
        }
    }
}

// A hash of the bits of the values of each row, and of its label. −0 is hashed as 0, every NaN as the same one.
static void row_hashes(Array<const std::uint64_t, 2> bits, ConstIndices labels, Array<std::uint64_t, 1> out) {
    // Odd numbers with irregular bits: products with them spread over all 64 bits.
    constexpr std::uint64_t first_factor = 0x9E3779B97F4A7C15, second_factor = 0xC2B2AE3D27D4EB4F;
    constexpr std::uint64_t sign = std::uint64_t(1) << 63, infinity = 0x7FF0000000000000, nan = 0x7FF8000000000000;
    require(labels.size() == bits.size(0) && out.size() == bits.size(0), "rows");
    for (Index i = 0; i < bits.size(0); ++i) {
        std::uint64_t value = (std::uint64_t(labels[i]) + 1) * first_factor;
        for (std::uint64_t own : bits[i]) {
            own = own == sign ? 0 : (own & ~sign) > infinity ? nan : own;
            value = (value ^ own ^ (own >> 29)) * second_factor;
            value ^= value >> 29;
        }
        out[i] = value * first_factor;
    }
}

void bind_metric(nb::module_ &m) {
    def_wide<measure_diagonal<double, double>>(m, "measure_diagonal");
    def_wide<measure_diagonal<float, float>>(m, "measure_diagonal");
    def_wide<measure_diagonal<double, float>>(m, "measure_diagonal");
    def_wide<measure_diagonal<float, double>>(m, "measure_diagonal");
    def_wide<measure_matrices<double>>(m, "measure_matrices");
    def_wide<measure_matrices<float>>(m, "measure_matrices");
    def_wide<multiply_metrics<double>>(m, "multiply_metrics");
    def_wide<multiply_metrics<float>>(m, "multiply_metrics");
    def_wide<multiply_rows>(m, "multiply_rows");
    def_wide<curve_values>(m, "curve_values");
    def(m, "row_hashes", &row_hashes);
}

}  // namespace lann
