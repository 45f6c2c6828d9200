// The graph of neighbors of an embedding, and coordinates of new rows.
#include "simd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lann {

// The mean of values, which are added in single precision, as umap-learn does.
static double single_mean(const float *values, Index n) {
    float total = 0.0f;
    for (Index i = 0; i < n; ++i) total += values[i];
    return total / double(n);
}

// The σ with which the weights of the neighbors of a row add up to log₂ k.
static float edge_width(const float *distances, Index k, float nearest) {
    constexpr double tolerance = 1e-5;  // of the sum of weights
    const double unbounded = std::numeric_limits<float>::max(), target = std::log2(double(k));
    double low = 0.0, high = unbounded, width = 1.0;
    for (int step = 0; step < 64; ++step) {
        double total = 0.0;
        for (Index j = 1; j < k; ++j) {
            const float beyond = distances[j] - nearest;
            total += beyond > 0.0f ? std::exp(-(beyond / width)) : 1.0;
        }
        if (std::abs(total - target) < tolerance) break;
        (total > target ? high : low) = width;
        width = high < unbounded ? (low + high) / 2.0 : 2.0 * width;
    }
    return float(width);
}

// The weight of each neighbor, exp(−(d − ρ)/σ); a row itself has the weight 0. All are (n_rows, k).
static void edge_weights(ConstIndices2 indices, Array<const float, 2> distances, Array<float, 2> out) {
    constexpr double least_width = 1e-3;  // relative to a mean distance
    const Index n_rows = distances.size(0), k = distances.size(1);
    require(indices.shape == distances.shape && out.shape == distances.shape, "neighbors");
    const double overall = single_mean(distances.data, distances.size());
    for (Index row = 0; row < n_rows; ++row) {
        const float *own = distances[row].data;
        const float *first = std::find_if(own, own + k, [](float distance) { return distance > 0.0f; });
        const float nearest = first == own + k ? 0.0f : *first;
        const double least = least_width * (nearest > 0.0f ? single_mean(own, k) : overall);
        float width = edge_width(own, k, nearest);
        if (width < least) width = float(least);
        for (Index j = 0; j < k; ++j) {
            const float beyond = own[j] - nearest;
            if (indices(row, j) == row) out(row, j) = 0.0f;
            else out(row, j) = beyond <= 0.0f || width == 0.0f ? 1.0f : std::exp(-(beyond / width));
        }
    }
}

static double squared_distance(const double *one, const double *other, Index n) {
    double total = 0.0;
    for (Index a = 0; a < n; ++a) total += (one[a] - other[a]) * (one[a] - other[a]);
    return total;
}

// The coordinates e of each query that minimize Σ_j (1/d_j) log(1 + ‖e − e_j‖²/s²) over its neighbors.
//
// neighbors, distances : (n_queries, k) the squared distances ascending; coordinates : (n_rows, n_components)
static void lay_out_queries(ConstIndices2 neighbors, ConstFloats2 distances, ConstFloats2 coordinates, double scale,
                          Floats2 out) {
    const Index k = neighbors.size(1), n = coordinates.size(1);
    const double unit = scale * scale, least_step = 1e-12 * unit;  // a step shorter than 10⁻⁶ s is the last
    require(distances.shape == neighbors.shape && out.size(0) == neighbors.size(0) && out.size(1) == n, "queries");
    std::vector<double> weights(k), following(n);
    for (Index query = 0; query < neighbors.size(0); ++query) {
        const double nearest = distances(query, 0);
        const auto at = [&](Index j) { return coordinates.data + neighbors(query, j) * n; };
        double *here = out[query].data;
        for (Index j = 0; j < k; ++j)  // relative to the nearest, so that no weight overflows; 0/0 is a weight of 1
            weights[j] = distances(query, j) == nearest ? 1.0 : nearest / distances(query, j);
        Index start = 0;
        double lowest = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < k; ++j) {
            double total = 0.0;
            for (Index i = 0; i < k; ++i) total += weights[i] * std::log1p(squared_distance(at(j), at(i), n) / unit);
            if (total < lowest) start = j, lowest = total;
        }
        std::copy_n(at(start), n, here);
        double moved = lowest == 0.0 ? 0.0 : unit;  // 0 if all neighbors with a weight are there
        for (int step = 0; step < 200 && moved > least_step; ++step) {
            double whole = 0.0;
            std::fill(following.begin(), following.end(), 0.0);
            for (Index j = 0; j < k; ++j) {
                const double weight = weights[j] / (1.0 + squared_distance(here, at(j), n) / unit);
                whole += weight;
                for (Index a = 0; a < n; ++a) following[a] += weight * at(j)[a];
            }
            for (double &value : following) value /= whole;
            moved = squared_distance(here, following.data(), n);
            std::copy(following.begin(), following.end(), here);
        }
    }
}

void bind_graph(nb::module_ &m) {
    def(m, "edge_weights", &edge_weights);
    def(m, "lay_out_queries", &lay_out_queries);
}

}  // namespace lann
