// Votes on a row in which one feature is changed.
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

void bind_explain(nb::module_ &m) {
    def_wide<vote_on_changes>(m, "vote_on_changes");
}

}  // namespace lann
