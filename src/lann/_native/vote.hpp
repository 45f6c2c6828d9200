// The losses of the vote that train metrics, and their slopes with respect to the distances of the neighbors.
#pragma once

#include "simd.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lann {

// How the loss of a query is computed from its neighbors; `strength` is the floor η, the temperature β, or a factor.
struct LossRule {
    enum Kind : Index { shares, softmax, crps };
    Index kind, n_neighbors;
    double power, strength;
    Index n_classes;
};

// What points are to predict, class indices or values, and how much each of them counts.
// labels, weights : (n_points,); values : (n_points,), empty for classes
struct Targets {
    ConstIndices labels;
    ConstFloats values, weights;

    bool are_of(Index n) const {
        return labels.size() == n && weights.size() == n && (values.size() == n || values.size() == 0);
    }
    double value(Index i) const { return values.size() ? values[i] : 0.0; }
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

// The CRPS of the distribution of the neighbors' values, times `factor`, and its slopes.
//
// With the shares w_j = d_j^−p / Σ d^−p, it is Σ w_j |v_j − y| − ½ Σ w_i w_j |v_i − v_j|. `gaps` : (n_near,) is written.
LANN_INLINE double crps_loss(const double *distances, const double *values, double value, Index n_near, double power,
                             double factor, double *slopes, double *gaps) {
    double nearest = std::numeric_limits<double>::infinity(), total = 0.0, loss = 0.0, mean = 0.0;
    for (Index j = 0; j < n_near; ++j) nearest = std::min(nearest, distances[j]);
    for (Index j = 0; j < n_near; ++j) total += slopes[j] = raise(nearest / distances[j], power);
    for (Index j = 0; j < n_near; ++j) slopes[j] /= total;
    for (Index j = 0; j < n_near; ++j) {
        double spread = 0.0;
        for (Index i = 0; i < n_near; ++i) spread += slopes[i] * std::abs(values[i] - values[j]);
        const double error = std::abs(values[j] - value);
        gaps[j] = error - spread;  // ∂loss/∂w_j
        loss += slopes[j] * (error - 0.5 * spread);
        mean += slopes[j] * gaps[j];
    }
    for (Index j = 0; j < n_near; ++j) slopes[j] *= factor * power * (mean - gaps[j]) / distances[j];
    return factor * loss;
}

// The neighbors of a query: what they are to predict, their distances and weights, and the slopes of the loss.
struct Near {
    std::vector<Index> labels;
    std::vector<double> values, distances, weights, slopes, scores;

    explicit Near(const LossRule &rule)
        : labels(rule.n_neighbors), values(rule.n_neighbors), distances(rule.n_neighbors), weights(rule.n_neighbors),
          slopes(rule.n_neighbors), scores(std::max(rule.n_classes, rule.n_neighbors)) {}

    // The loss of a query, with the support of each of the first n_near neighbors, and the loss, multiplied by weights.
    // The distances are changed.
    LANN_INLINE double weighted_loss(const LossRule &rule, Index label, double value, double weight, Index n_near) {
        const double root = -1.0 / rule.power;
        for (Index j = 0; j < n_near; ++j)  // c d^−p is (c^(−1/p) d)^−p: a larger weight is a shorter distance
            if (weights[j] != 1.0) distances[j] *= std::pow(weights[j], root);
        double loss;
        if (rule.kind == LossRule::shares)
            loss = share_loss(distances.data(), labels.data(), label, n_near, rule.power, rule.strength, slopes.data());
        else if (rule.kind == LossRule::softmax)
            loss = softmax_loss(distances.data(), labels.data(), label, n_near, rule.power, rule.strength,
                                rule.n_classes, slopes.data(), scores.data());
        else
            loss = crps_loss(distances.data(), values.data(), value, n_near, rule.power, rule.strength, slopes.data(),
                             scores.data());
        for (Index j = 0; j < n_near; ++j) {
            slopes[j] *= weight;
            if (weights[j] != 1.0) slopes[j] *= std::pow(weights[j], root);
        }
        return weight * loss;
    }
};

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

// A NamedTuple of Python with these fields.
template <class T, class... Fields>
struct tuple_caster {
    using Tuple = std::tuple<Fields...>;
    NB_TYPE_CASTER(T, make_caster<Tuple>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list *cleanup) noexcept {
        make_caster<Tuple> fields;
        if (!fields.from_python(source, flags, cleanup)) return false;
        std::apply([&](auto... field) { value = {field...}; }, fields.operator Tuple());
        return true;
    }
};

// Those of lann.training.
template <>
struct type_caster<lann::LossRule> : tuple_caster<lann::LossRule, lann::Index, lann::Index, double, double, lann::Index> {};
template <>
struct type_caster<lann::Targets>
    : tuple_caster<lann::Targets, lann::ConstIndices, lann::ConstFloats, lann::ConstFloats> {};

}  // namespace nanobind::detail
