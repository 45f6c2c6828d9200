// Walks from a query to other rows: distances and votes where one feature after another is replaced.
#include "distances.hpp"
#include "top_k.hpp"
#include "vote.hpp"

#include <vector>

namespace lann {

constexpr double huge = 1e300;  // distances that overflow count as equally far: HUGE in lann.vote

// The nearest candidates of a vote whose distances change little from one stop to the next.
struct NearestVoters {
    std::vector<double> keys;  // their distances, nearest first, equal distances by position
    std::vector<Index> slots;  // their positions
    std::vector<char> is_near;
    Index n_near = 0, k;

    NearestVoters(Index n_candidates, Index most)
        : keys(n_candidates), slots(n_candidates), is_near(n_candidates), k(std::min(most, n_candidates)) {}

    void clear() {
        n_near = 0;
        std::fill(is_near.begin(), is_near.end(), 0);
    }

    // Move the last of the first i + 1 candidates to its place.
    void sink(Index i) {
        const double key = keys[i];
        const Index slot = slots[i];
        for (; i > 0 && before(key, slot, keys[i - 1], slots[i - 1]); --i) {
            keys[i] = keys[i - 1];
            slots[i] = slots[i - 1];
        }
        keys[i] = key;
        slots[i] = slot;
    }

    // distances : (n_candidates,) infinite for candidates that do not vote
    void update(const double *distances, Index n_candidates) {
        for (Index i = 0; i < n_near; ++i) {
            keys[i] = std::min(distances[slots[i]], huge);
            sink(i);
        }
        for (Index slot = 0; slot < n_candidates; ++slot) {
            const double key = distances[slot];
            if (is_near[slot] || key == infinity) continue;
            if (n_near == k) {
                if (!before(key, slot, keys[k - 1], slots[k - 1])) continue;
                is_near[slots[--n_near]] = 0;
            }
            keys[n_near] = std::min(key, huge);
            slots[n_near] = slot;
            is_near[slot] = 1;
            sink(n_near++);
        }
    }
};

// How candidates vote.
struct Voters {
    const Index *labels;        // (n_candidates,)
    const double *row_weights;  // (n_candidates,)
    ConstFloats class_weight;   // (n_classes,)
    MeanVote vote;
    double epsilon;
    std::vector<double> &scratch;  // (5 k,)

    // Set the share of each class.
    void count(const NearestVoters &near, Floats shares) const {
        const Index n = near.n_near;
        double *ratios = scratch.data(), *factors = ratios + n, *counts = factors + n, *supports = counts + n;
        const double nearest = near.keys[0] + epsilon;
        for (Index i = 0; i < n; ++i) {
            ratios[i] = nearest / (near.keys[i] + epsilon);
            factors[i] = class_weight[labels[near.slots[i]]];
            counts[i] = row_weights[near.slots[i]];
        }
        vote.share(ratios, factors, counts, n, supports, supports + n);
        std::fill(shares.begin(), shares.end(), 0.0);
        for (Index i = 0; i < n; ++i) shares[labels[near.slots[i]]] += supports[n + i];
    }
};

// The share of each class in the vote at every stop.
//
// distances : (n_walks, n_stops, n_candidates) squared; infinite for candidates that do not vote
// labels, row_weights : (n_walks, n_candidates); class_weight : (n_classes,)
// k : number of nearest candidates that can vote; votes : as for `MeanVote`
// shares : (n_walks, n_stops, n_classes) the result
static void vote_on_walks(ConstFloats3 distances, ConstIndices2 labels, ConstFloats2 row_weights,
                          ConstFloats class_weight, Index k, ConstFloats2 votes, double epsilon, Floats3 shares) {
    const Index n_walks = distances.size(0), n_stops = distances.size(1), n_candidates = distances.size(2);
    require(labels.size(0) == n_walks && labels.size(1) == n_candidates, "labels");
    require(row_weights.shape == labels.shape, "row weights");
    require(shares.size(0) == n_walks && shares.size(1) == n_stops && shares.size(2) == class_weight.size(), "shares");
    require(k > 0 && n_candidates > 0, "candidates");
    NearestVoters near(n_candidates, k);
    std::vector<double> scratch(5 * near.k);
    for (Index walk = 0; walk < n_walks; ++walk) {
        const Voters voters{labels[walk].data, row_weights[walk].data, class_weight, MeanVote(votes), epsilon, scratch};
        near.clear();
        for (Index stop = 0; stop < n_stops; ++stop) {
            near.update(distances[walk][stop].data, n_candidates);
            voters.count(near, shares[walk][stop]);
        }
    }
}

// The share of each class where a feature is changed, in votes with 1/d: a change by δ in feature l changes a squared
// distance by 2 δ s_l + δ² c_l.
//
// distances, labels, row_weights : (n_rows,); slopes, curvatures : (n_features, n_rows)
// changes : (n_features, n_values); own : a row that does not vote, -1 for none
// shares : (n_features, n_values, n_classes) the result
LANN_INLINE void vote_on_changes(ConstFloats distances, ConstFloats2 slopes, ConstFloats2 curvatures,
                                 ConstFloats2 changes, ConstIndices labels, ConstFloats row_weights,
                                 ConstFloats class_weight, Index own, Index k, double n_votes, double epsilon,
                                 Floats3 shares) {
    const Index n_rows = distances.size(), n_features = changes.size(0), n_values = changes.size(1);
    require(slopes.size(0) == n_features && slopes.size(1) == n_rows && curvatures.shape == slopes.shape, "slopes");
    require(labels.size() == n_rows && row_weights.size() == n_rows && own < n_rows, "rows");
    require(shares.size(0) == n_features && shares.size(1) == n_values && shares.size(2) == class_weight.size(),
            "shares");
    require(k > 0 && n_rows > 0, "candidates");
    NearestVoters near(n_rows, k);
    std::vector<double> scratch(5 * near.k);
    const double vote[] = {n_votes, 1.0, 1.0};
    const Voters voters{labels.data, row_weights.data, class_weight, MeanVote({vote, {1, 3}}), epsilon, scratch};
    std::vector<double> moved(n_rows);
    for (Index feature = 0; feature < n_features; ++feature) {
        const double *slope = slopes[feature].data, *curvature = curvatures[feature].data;
        for (Index value = 0; value < n_values; ++value) {
            const double change = changes(feature, value);
            for (Index j = 0; j < n_rows; ++j) {
                const double key = distances.data[j] + change * (2.0 * slope[j] + change * curvature[j]);
                moved[j] = key > 0.0 ? key : 0.0;  // rounding may go below 0
            }
            if (own >= 0) moved[own] = infinity;
            near.update(moved.data(), n_rows);
            voters.count(near, shares[feature][value]);
        }
    }
}

// side += step · columns[coordinate], where there is a map; otherwise the axes are the coordinates.
LANN_INLINE void shift(double *side, double step, ConstFloats2 columns, Index coordinate) {
    if (columns.size(0) == 0) {
        side[coordinate] += step;
        return;
    }
    const double *column = columns[coordinate].data;
    for (Index a = 0; a < columns.size(1); ++a) side[a] += step * column[a];
}

// Squared distances to candidates under diagonal metrics, on walks in an order and in its reverse.
//
// A row on the way and its complement lie on opposite sides of the middle m, at m + a and m − a. Their squared distances
// to a candidate p are ‖m − p‖² + ‖a‖² ± 2 ⟨a, m − p⟩, in its metric: two sums for two rows.
//
// starts : (n_walks, n_axes) the queries; steps : (n_walks, n_coordinates) from the query to the other row
// columns : (n_coordinates, n_axes) the transposed linear map; empty without
// firsts : (n_features + 1,) the first coordinate of each feature
// orders : (n_walks, n_features), bounds : (n_stops,), candidates : as for `NeighborModel.walk_distances`
// points : (n_points, n_axes); weights : (n_points, n_axes), or (1, n_axes) if shared
// out : (n_walks, 2, n_stops, n_candidates) the result
LANN_INLINE void diagonal_walks(ConstFloats2 starts, ConstFloats2 steps, ConstFloats2 columns, ConstIndices firsts,
                                ConstIndices2 orders, ConstIndices bounds, ConstFloats2 points, ConstFloats2 weights,
                                ConstIndices2 candidates, Array<double, 4> out) {
    const Index n_walks = candidates.size(0), n_candidates = candidates.size(1), n_axes = starts.size(1);
    const Index n_stops = bounds.size(), n_coordinates = steps.size(1);
    require(starts.size(0) == n_walks && steps.size(0) == n_walks && orders.size(0) == n_walks, "walks");
    require(points.size(1) == n_axes && weights.size(1) == n_axes, "axes");
    require(weights.size(0) == 1 || weights.size(0) == points.size(0), "weights");
    require(columns.size(0) ? columns.size(0) == n_coordinates && columns.size(1) == n_axes : n_coordinates == n_axes,
            "columns");
    require(orders.size(1) + 1 == firsts.size() && firsts[firsts.size() - 1] == n_coordinates, "features");
    require(out.shape == std::array<Index, 4>{n_walks, 2, n_stops, n_candidates}, "out");
    const Index stride = weights.size(0) > 1 ? n_axes : 0;
    std::vector<double> scales(n_candidates * n_axes), slopes(n_candidates * n_axes), offsets(n_candidates);
    std::vector<double> side(n_axes), squares(n_axes);
    for (Index walk = 0; walk < n_walks; ++walk) {
        const Index *order = orders[walk].data, *candidate = candidates[walk].data;
        const double *start = starts[walk].data, *step = steps[walk].data;
        std::fill(side.begin(), side.end(), 0.0);  // half the way, from the middle to the query
        for (Index coordinate = 0; coordinate < n_coordinates; ++coordinate)
            if (step[coordinate] != 0.0) shift(side.data(), -0.5 * step[coordinate], columns, coordinate);
        for (Index slot = 0; slot < n_candidates; ++slot) {
            const Index j = std::max<Index>(candidate[slot], 0);
            const double *p = points.data + j * n_axes, *w = weights.data + j * stride;
            double *scale = &scales[slot * n_axes], *slope = &slopes[slot * n_axes], total = 0.0;
            for (Index a = 0; a < n_axes; ++a) {
                const double difference = start[a] - side[a] - p[a];
                scale[a] = w[a];
                slope[a] = w[a] * difference;
                total += slope[a] * difference;
            }
            offsets[slot] = total;
        }
        Index done = 0;
        for (Index stop = 0; stop < n_stops; ++stop) {
            double *forward = out[walk][0][stop].data, *backward = out[walk][1][stop].data;
            bool moved = stop == 0;
            for (; done < bounds[stop]; ++done) {
                const Index feature = order[done];
                for (Index coordinate = firsts[feature]; coordinate < firsts[feature + 1]; ++coordinate) {
                    if (step[coordinate] == 0.0) continue;
                    moved = true;
                    shift(side.data(), step[coordinate], columns, coordinate);
                }
            }
            if (!moved) {
                std::copy_n(forward - n_candidates, n_candidates, forward);
                std::copy_n(backward - n_candidates, n_candidates, backward);
                continue;
            }
            for (Index a = 0; a < n_axes; ++a) squares[a] = side[a] * side[a];
            for (Index slot = 0; slot < n_candidates; ++slot) {
                const double *scale = &scales[slot * n_axes], *slope = &slopes[slot * n_axes];
                const double length = dot(scale, squares.data(), n_axes), tilt = dot(slope, side.data(), n_axes);
                const double middle = offsets[slot] + length;
                forward[slot] = std::max(middle + 2.0 * tilt, 0.0);  // rounding may go below 0
                backward[slot] = std::max(middle - 2.0 * tilt, 0.0);
                if (candidate[slot] < 0) forward[slot] = backward[slot] = infinity;
            }
        }
    }
}

void bind_explain(nb::module_ &m) {
    def(m, "vote_on_walks", &vote_on_walks);
    def_wide<vote_on_changes>(m, "vote_on_changes");
    def_wide<diagonal_walks>(m, "diagonal_walks");
}

}  // namespace lann
