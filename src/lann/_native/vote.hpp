// The losses of the vote that train metrics, and their slopes with respect to the distances of the neighbors.
#pragma once

#include "simd.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lann {

// How the loss of a query is computed from its neighbors; `strength` is the floor η, or the temperature β.
struct LossRule {
    enum Kind : Index { shares, softmax };
    Index kind, n_neighbors;
    double power, strength;
    Index n_classes;
};

// base^power, by products for the powers that losses and votes mostly have.
LANN_INLINE double raise(double base, double power) {
    if (power == 0.5) return std::sqrt(base);
    if (power == 1.0) return base;
    if (power == 2.0) return base * base;
    if (power == 3.0) return base * base * base;
    if (power == 4.0) return (base * base) * (base * base);
    if (power == 6.0) return (base * base) * (base * base) * (base * base);
    return std::pow(base, power);
}

// −log of the label's share of the support, and its slope with respect to each distance.
//
// With s_j = d_j^−p, T = Σ s_j and A = Σ_{same label} s_j, the loss is −log[(A + ηT) / ((1 + η) T)]: independent of the
// scale of d, and bounded through η (`floor`) where no neighbor has the label. Distances include ε; `slopes` is written.
LANN_INLINE double share_loss(const double *distances, const Index *labels, Index label, Index n_near, double power,
                              double floor, double *slopes) {
    double nearest = std::numeric_limits<double>::infinity(), total = 0.0, same = 0.0;
    for (Index j = 0; j < n_near; ++j) nearest = std::min(nearest, distances[j]);
    for (Index j = 0; j < n_near; ++j) {
        slopes[j] = raise(nearest / distances[j], power);
        total += slopes[j];
        if (labels[j] == label) same += slopes[j];
    }
    const double padded = same + floor * total;
    for (Index j = 0; j < n_near; ++j) {
        const double inside = labels[j] == label ? 1.0 + floor : floor;
        slopes[j] = power * slopes[j] * (inside / padded - 1.0 / total) / distances[j];
    }
    return -std::log(padded / ((1.0 + floor) * total));
}

// −log P(label), P = softmax(S / β) of the supports S(y) = Σ_{y_j = y} d_j^−p, and its slopes.
//
// The published loss has p = 1. A class without a neighbor contributes exp(0). `scores` : (n_classes,) is written.
LANN_INLINE double softmax_loss(const double *distances, const Index *labels, Index label, Index n_near, double power,
                                double temperature, Index n_classes, double *slopes, double *scores) {
    std::fill(scores, scores + n_classes, 0.0);
    for (Index j = 0; j < n_near; ++j) scores[labels[j]] += raise(1.0 / distances[j], power) / temperature;
    const double highest = *std::max_element(scores, scores + n_classes);
    double total = 0.0;
    for (Index y = 0; y < n_classes; ++y) total += std::exp(scores[y] - highest);
    for (Index j = 0; j < n_near; ++j) {
        const double probability = std::exp(scores[labels[j]] - highest) / total;
        const double residual = labels[j] == label ? 1.0 - probability : -probability;
        double slope = power * raise(1.0 / distances[j], power + 1.0) / temperature;
        if (!(slope > 0.0 && slope < std::numeric_limits<double>::infinity()))
            slope = power * (raise(1.0 / distances[j], power) / temperature) / distances[j];  // d^(−p−1) is out of range
        slopes[j] = slope * residual;
    }
    return -(scores[label] - highest - std::log(total));
}

// One of the two losses, with the support of each neighbor, and the loss, multiplied by weights.
//
// weights : (n_near,) of the neighbors; weight : of the query; scores : (n_classes,) for softmax. `distances` change.
LANN_INLINE double weighted_loss(const LossRule &rule, double *distances, const Index *labels, Index label,
                                 Index n_near, const double *weights, double weight, double *slopes, double *scores) {
    const double root = -1.0 / rule.power;
    for (Index j = 0; j < n_near; ++j)  // c d^−p is (c^(−1/p) d)^−p: a larger weight is a shorter distance
        if (weights[j] != 1.0) distances[j] *= std::pow(weights[j], root);
    const double loss = rule.kind == LossRule::shares
                            ? share_loss(distances, labels, label, n_near, rule.power, rule.strength, slopes)
                            : softmax_loss(distances, labels, label, n_near, rule.power, rule.strength,
                                           rule.n_classes, slopes, scores);
    for (Index j = 0; j < n_near; ++j) {
        slopes[j] *= weight;
        if (weights[j] != 1.0) slopes[j] *= std::pow(weights[j], root);
    }
    return weight * loss;
}

// The most votes of which a mean is taken.
constexpr Index most_votes = 128;

// The share of each neighbor in a weighted mean of votes.
//
// votes : (n_votes, 3) number of neighbors, power and weight of each, votes of the same power next to each other and the
// numbers of these ascending; the weights add up to 1. In each, the nearest rows vote until their number is counted.
struct MeanVote {
    ConstFloats2 votes;

    explicit MeanVote(ConstFloats2 votes) : votes(votes) {
        require(votes.size(0) > 0 && votes.size(0) <= most_votes && votes.size(1) == 3, "votes");
    }

    // ratios : (n,) smallest distance / distance; factors : (n,) of the support; counts : (n,) row weights
    // supports : (n,) is written; shares : (n,) the result
    void share(const double *ratios, const double *factors, const double *counts, Index n, double *supports,
               double *shares) const {
        std::fill_n(shares, n, 0.0);
        for (Index first = 0, next; first < votes.size(0); first = next) {
            const double power = votes(first, 1);
            for (Index i = 0; i < n; ++i) supports[i] = raise(ratios[i], power) * factors[i];
            // Where each vote ends, how much of the last row is counted, and its weight over its total support.
            Index ends[most_votes];
            double left[most_votes], scales[most_votes], counted = 0.0, total = 0.0;
            Index end = 0;
            for (next = first; next < votes.size(0) && votes(next, 1) == power; ++next) {
                for (; end < n && counted + counts[end] <= votes(next, 0); ++end) {
                    counted += counts[end];
                    total += counts[end] * supports[end];
                }
                ends[next] = end;
                left[next] = end < n ? votes(next, 0) - counted : 0.0;
                scales[next] = votes(next, 2) / (total + (end < n ? left[next] * supports[end] : 0.0));
            }
            double scale = 0.0;  // of the votes in which the whole row is counted
            for (Index i = n, vote = next - 1; i-- > 0;) {
                double partial = 0.0;
                for (; vote >= first && ends[vote] > i; --vote) scale += scales[vote];
                for (Index other = vote; other >= first && ends[other] == i; --other) partial += left[other] * scales[other];
                shares[i] += supports[i] * (counts[i] * scale + partial);
            }
        }
    }
};

}  // namespace lann

namespace nanobind::detail {

// The NamedTuple `LossRule` of lann.training.
template <>
struct type_caster<lann::LossRule> {
    using Fields = std::tuple<lann::Index, lann::Index, double, double, lann::Index>;
    NB_TYPE_CASTER(lann::LossRule, make_caster<Fields>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
        make_caster<Fields> fields;
        if (!fields.from_python(source, flags, cleanup)) return false;
        std::apply([&](auto... field) { value = {field...}; }, fields.operator Fields());
        return true;
    }
};

}  // namespace nanobind::detail
