// Training: the coordinates of rows in cells, the loss of a batch with its gradients, Adam, and the online steps.
#include "distances.hpp"
#include "top_k.hpp"
#include "vote.hpp"

#include <vector>

namespace lann {

// Distances that overflow count as equally far.
static const double HUGE_DISTANCE = 1e300;

using CellTable = Array<const std::uint32_t, 2>;

// Number the points of a batch in order of appearance, queries first, and write its queries and candidates in these
// numbers. `position` : (n_points,) all -1, before and after; `used` : the points. Returns how many there are.
static Index compact_batch(ConstIndices rows, ConstIndices2 candidates, Indices position, Indices used,
                           Indices new_rows, Indices2 new_candidates) {
    require(used.size() >= rows.size() + candidates.size() && new_rows.shape == rows.shape, "used");
    require(new_candidates.shape == candidates.shape && rows.size() == candidates.size(0), "candidates");
    Index n_used = 0;
    auto number = [&](Index point) {
        if (position[point] < 0) {
            used[n_used] = point;
            position[point] = n_used++;
        }
        return position[point];
    };
    for (Index q = 0; q < rows.size(); ++q) {
        new_rows[q] = number(rows[q]);
        for (Index c = 0; c < candidates.size(1); ++c)
            new_candidates(q, c) = candidates(q, c) < 0 ? -1 : number(candidates(q, c));
    }
    for (Index i = 0; i < n_used; ++i) position[used[i]] = -1;
    return n_used;
}

// Write the coordinates of some points, (n_used, n_coordinates): start + slope · offset of the cell of each value.
// cells, offsets : (n_points, n_coordinates), offsets are from the origins of the cells; starts, slopes : (n_cells,)
static void cell_values(CellTable cells, ConstFloats2 offsets, ConstIndices used, ConstFloats starts,
                        ConstFloats slopes, Floats2 out) {
    const Index n = cells.size(1);
    require(out.size(0) == used.size() && out.size(1) == n && offsets.shape == cells.shape, "cells");
    require(starts.shape == slopes.shape, "slopes");
    for (Index number = 0; number < used.size(); ++number) {
        const Index i = used[number];
        const std::uint32_t *cell = &cells(i, 0);
        const double *offset = &offsets(i, 0);
        double *__restrict value = &out(number, 0);
        for (Index f = 0; f < n; ++f) value[f] = starts[cell[f]] + slopes[cell[f]] * offset[f];
    }
}

// Add the gradients of some points, (n_used, n_coordinates), to sums and moments by cell, (n_cells,).
static void add_by_cell(CellTable cells, ConstFloats2 offsets, ConstIndices used, ConstFloats2 gradient, Floats sums,
                        Floats moments) {
    require(gradient.size(0) == used.size() && gradient.size(1) == cells.size(1), "gradient");
    require(offsets.shape == cells.shape && sums.shape == moments.shape, "cells");
    for (Index number = 0; number < used.size(); ++number) {
        const Index i = used[number];
        const std::uint32_t *cell = &cells(i, 0);
        const double *offset = &offsets(i, 0), *own = &gradient(number, 0);
        for (Index f = 0; f < cells.size(1); ++f) {
            sums[cell[f]] += own[f];
            moments[cell[f]] += own[f] * offset[f];
        }
    }
}

// One step of Adam (Kingma & Ba 2015) of size `rate`; all arrays are flat.
LANN_INLINE void adam_step(Floats parameters, ConstFloats gradient, Floats first, Floats second, double rate,
                           double n_steps) {
    require(gradient.size() == parameters.size(), "gradient");
    require(first.size() == parameters.size() && second.size() == parameters.size(), "moments");
    const double first_decay = 0.9, second_decay = 0.99;
    const double first_scale = rate / (1.0 - std::pow(first_decay, n_steps));
    const double second_scale = 1.0 / (1.0 - std::pow(second_decay, n_steps));
    double *__restrict x = parameters.data, *__restrict m = first.data, *__restrict v = second.data;
    const double *__restrict g = gradient.data;
    for (Index i = 0; i < parameters.size(); ++i) {
        m[i] += (1.0 - first_decay) * (g[i] - m[i]);
        v[i] += (1.0 - second_decay) * (g[i] * g[i] - v[i]);
        x[i] -= m[i] * first_scale / (std::sqrt(v[i] * second_scale) + 1e-4);
    }
}

// Replace a share of each row by the mean of the rows of its neighbors, all at once: `mixed` is written.
// values, mixed : (n_rows, n_columns); neighbors : (n_rows, k), -1 for none
LANN_INLINE void mix_with_neighbors(ConstFloats2 values, ConstIndices2 neighbors, double share, Floats2 mixed) {
    const Index n = values.size(1);
    require(mixed.shape == values.shape && neighbors.size(0) == values.size(0), "neighbors");
    std::vector<double> buffer(n);
    double *__restrict mean = buffer.data();
    for (Index i = 0; i < values.size(0); ++i) {
        double count = 0.0;
        for (Index a = 0; a < n; ++a) mean[a] = 0.0;
        for (Index slot = 0; slot < neighbors.size(1); ++slot) {
            if (neighbors(i, slot) < 0) continue;
            const double *row = &values(neighbors(i, slot), 0);
            for (Index a = 0; a < n; ++a) mean[a] += row[a];
            count += 1.0;
        }
        const double *own = &values(i, 0);
        double *__restrict out = &mixed(i, 0);
        for (Index a = 0; a < n; ++a) out[a] = count > 0.0 ? own[a] + share * (mean[a] / count - own[a]) : own[a];
    }
}

// The nearest neighbors of one query, sorted by distance and then by index, and the slope of the loss for each distance.
struct Neighbors : Near {
    std::vector<Index> indices;
    Index count = 0, k;

    explicit Neighbors(const LossRule &rule) : Near(rule), indices(rule.n_neighbors), k(rule.n_neighbors) {}

    LANN_INLINE void clear() {
        std::fill(distances.begin(), distances.end(), infinity);
        std::fill(indices.begin(), indices.end(), -1);
    }

    // Insert a point; the last one is dropped if there are more than k.
    LANN_INLINE void add(double distance, Index point) {
        insert(distances.data(), indices.data(), k, distance, point);
    }

    // Keep the k nearest of n points, in the given order: those before which there are fewer than k. The distances are
    // followed by three numbers that are not less.
    LANN_INLINE void choose(double *found_distances, const Index *found, Index n) {
        using Mask = Index __attribute__((vector_size(32)));
        clear();
        std::fill(found_distances + n, found_distances + n + 3, infinity);
        for (Index i = 0, slot = 0; i < n; ++i) {
            const Lanes own = Lanes{} + found_distances[i];
            Mask n_before{}, position{0, 1, 2, 3};
            for (Index j = 0; n > k && j < n; j += 4, position += 4) {
                const Lanes other = load<Lanes>(found_distances + j);
                n_before -= (other < own) | ((other == own) & (position < i));
            }
            if (slot == k || n_before[0] + n_before[1] + n_before[2] + n_before[3] >= k) continue;
            distances[slot] = found_distances[i];
            indices[slot++] = found[i];
        }
    }

    // The loss of a query, if points have these targets; none without neighbors. The distances are changed.
    LANN_INLINE double loss(const LossRule &rule, Index query, const Targets &targets) {
        count = count_found(indices.data(), k);
        if (count == 0) return 0.0;
        for (Index slot = 0; slot < count; ++slot) {
            const Index j = indices[slot];
            labels[slot] = targets.labels[j];
            values[slot] = targets.value(j);
            weights[slot] = targets.weights[j];
        }
        return weighted_loss(rule, targets.labels[query], targets.value(query), targets.weights[query], count);
    }
};

// Σ (w · mask) (x − p)²; the mask is 0 or 1.
LANN_INLINE double masked_distance(const double *x, const double *p, const double *w, const double *mask, Index n) {
    return sum(
        n,
        [&](Index i) {
            const Lanes difference = load<Lanes>(mask + i) * (load<Lanes>(x + i) - load<Lanes>(p + i));
            return load<Lanes>(w + i) * difference * difference;
        },
        [&](Index i) {
            const double difference = mask[i] * (x[i] - p[i]);
            return w[i] * difference * difference;
        });
}

template <bool with_weight, bool with_point>
LANN_INLINE void add_gradient(const double *__restrict query, const double *__restrict point,
                              const double *__restrict own, const double *__restrict mask, double slope, Index n,
                              double *__restrict for_weight, double *__restrict for_point,
                              double *__restrict for_query) {
    for (Index a = 0; a < n; ++a) {
        const double difference = mask[a] * (point[a] - query[a]), force = slope * own[a] * difference;
        if (with_weight) for_weight[a] += force * difference;
        if (with_point) for_point[a] += 2.0 * force;
        if (with_point) for_query[a] -= 2.0 * force;
    }
}

// The mean loss of a batch; its gradients for the log weights and for the points are added to arrays of their shapes,
// which are empty where they are not needed: ∂loss/∂log w = slope · w · difference² and, for both points of a pair,
// ∂loss/∂point = ± 2 · slope · w · difference.
// rows : (n_queries,) points; candidates : (n_queries, n_candidates) points, -1 for none; axis_mask : 0 where dropped
// points : (n_points, n_axes); weights : (n_owners, n_axes); owners : (n_points,) whose weights a point measures with
LANN_INLINE double loss_and_gradients(ConstIndices rows, ConstIndices2 candidates, ConstFloats axis_mask,
                                      double epsilon, ConstFloats2 points, ConstFloats2 weights, ConstIndices owners,
                                      Targets targets, LossRule rule, Floats2 by_weight, Floats2 by_point) {
    const Index n = points.size(1), n_queries = rows.size();
    const bool need_weight = by_weight.size() > 0, need_point = by_point.size() > 0;
    require(candidates.size(0) == n_queries && axis_mask.size() == n && weights.size(1) == n, "axes");
    require(owners.size() == points.size(0) && targets.are_of(owners.size()), "points");
    require(!need_weight || by_weight.shape == weights.shape, "gradient of weights");
    require(!need_point || by_point.shape == points.shape, "gradient of points");
    Neighbors near(rule);
    std::vector<double> distances(candidates.size(1) + 3);
    std::vector<Index> found(candidates.size(1));
    const double *__restrict mask = axis_mask.data;
    double total = 0.0;
    for (Index q = 0; q < n_queries; ++q) {
        const Index i = rows[q];
        const double *__restrict query = &points(i, 0);
        Index n_found = 0;
        for (Index c = 0; c < candidates.size(1); ++c) {
            const Index j = candidates(q, c);
            if (j < 0) continue;
            distances[n_found] = epsilon + masked_distance(query, &points(j, 0), &weights(owners[j], 0), mask, n);
            found[n_found++] = j;
        }
        near.choose(distances.data(), found.data(), n_found);
        total += near.loss(rule, i, targets);
        for (Index slot = 0; slot < near.count; ++slot) {
            const Index j = near.indices[slot];
            const double slope = near.slopes[slot] / double(n_queries);
            const double *__restrict point = &points(j, 0), *__restrict own = &weights(owners[j], 0);
            double *for_weight = need_weight ? &by_weight(owners[j], 0) : nullptr;
            double *for_point = need_point ? &by_point(j, 0) : nullptr, *for_query = need_point ? &by_point(i, 0) : nullptr;
            if (need_weight && need_point)
                add_gradient<true, true>(query, point, own, mask, slope, n, for_weight, for_point, for_query);
            else if (need_weight)
                add_gradient<true, false>(query, point, own, mask, slope, n, for_weight, for_point, for_query);
            else if (need_point)
                add_gradient<false, true>(query, point, own, mask, slope, n, for_weight, for_point, for_query);
        }
    }
    return total / double(n_queries);
}

// Matrices of points, Ω_j = √s_j A_j: the kernels measure d = s ‖Aᵀ u‖² with u = √w ⊙ mask ⊙ (point − query).
// points, roots √w : (n_points, n_axes); matrices A : (n_points, n_axes, rank), double or float; scales s : (n_points,)
template <class M>
struct MatrixPoints {
    ConstFloats2 points, roots;
    Array<M, 3> matrices;
    Index n_axes, rank;
    std::vector<double> step, projected;

    MatrixPoints(ConstFloats2 points, ConstFloats2 roots, Array<M, 3> matrices)
        : points(points), roots(roots), matrices(matrices), n_axes(matrices.size(1)), rank(matrices.size(2)),
          step(n_axes), projected(rank) {
        require(points.shape == roots.shape && points.size(0) == matrices.size(0) && points.size(1) == n_axes, "axes");
    }

    M *matrix(Index j) const { return &matrices(j, 0, 0); }

    // ‖Aᵀ u‖² of a pair; leaves u in `step` and Aᵀ u in `projected`. The mask is null if no axis is dropped.
    LANN_INLINE double measure(Index query, Index j, const double *mask) {
        const double *x = &points(query, 0), *p = &points(j, 0), *root = &roots(j, 0);
        for (Index a = 0; a < n_axes; ++a) step[a] = root[a] * (p[a] - x[a]);
        if (mask)
            for (Index a = 0; a < n_axes; ++a) step[a] *= mask[a];
        project(step.data(), matrix(j), n_axes, rank, projected.data());
        return squared_norm(projected.data(), rank);
    }
};

// Write the squared distances of some pairs, which are entries of the following arrays, those of a neighbor together.
// queries, neighbors, out : (n_pairs,)
template <class M>
LANN_INLINE void matrix_pair_distances(ConstIndices pairs, ConstIndices queries, ConstIndices neighbors,
                                       ConstFloats axis_mask, ConstFloats2 points, ConstFloats2 roots,
                                       Array<const M, 3> matrices, ConstFloats scales, Floats out) {
    MatrixPoints<const M> metric(points, roots, matrices);
    require(queries.shape == out.shape && neighbors.shape == out.shape && axis_mask.size() == metric.n_axes, "pairs");
    for (Index pair : pairs) {
        const Index j = neighbors[pair];
        out[pair] = scales[j] * metric.measure(queries[pair], j, axis_mask.data);
    }
}

// The mean loss of a batch with known neighbors, -1 for none, and its slope for each distance; distances are changed.
// near, distances, slopes : (n_queries, k); rows : (n_queries,)
static double batch_loss(ConstIndices2 near, ConstFloats2 distances, ConstIndices rows, Targets targets, LossRule rule,
                         Floats2 slopes) {
    require(near.shape == distances.shape && slopes.shape == near.shape && near.size(0) == rows.size(), "queries");
    require(near.size(1) <= rule.n_neighbors && targets.are_of(targets.labels.size()), "neighbors");
    const double n_queries = double(rows.size());
    Neighbors list(rule);
    double total = 0.0;
    for (Index q = 0; q < rows.size(); ++q) {
        list.clear();
        for (Index slot = 0; slot < near.size(1); ++slot) {
            list.indices[slot] = near(q, slot);
            list.distances[slot] = distances(q, slot);
        }
        total += list.loss(rule, rows[q], targets);
        for (Index slot = 0; slot < near.size(1); ++slot)
            slopes(q, slot) = slot < list.count ? list.slopes[slot] / n_queries : 0.0;
    }
    return total / n_queries;
}

// Write ∂loss/∂A = Σ 2 s · slope · u (Aᵀu)ᵀ of point j, (n_axes, rank), over its pairs; returns ∂loss/∂log s.
template <class M>
LANN_INLINE double add_pairs(MatrixPoints<M> &metric, Index j, double scale, const Index *queries, const double *slopes,
                             Index n_pairs, const double *mask, double *out) {
    const Index n_axes = metric.n_axes, rank = metric.rank;
    double by_scale = 0.0;
    std::fill(out, out + n_axes * rank, 0.0);
    for (Index pair = 0; pair < n_pairs; ++pair) {
        by_scale += slopes[pair] * scale * metric.measure(queries[pair], j, mask);
        const double *__restrict projected = metric.projected.data();
        for (Index a = 0; a < n_axes; ++a) {
            const double change = 2.0 * scale * slopes[pair] * metric.step[a];
            double *__restrict row = out + a * rank;
            for (Index r = 0; r < rank; ++r) row[r] += change * projected[r];
        }
    }
    return by_scale;
}

// Take one step of the A of each neighbor, and write the gradients for log s. The gradient of A is that of the loss
// times `loss_factor`, plus that of the penalty ½ ‖A − I‖² times `regularization`. The entries of A share one second
// moment, the mean over the axes of the squared gradient, so that only A itself takes memory and a direction that
// hardly matters hardly changes.
// neighbors, by_scale : (n,) distinct points; starts : (n + 1,) where the pairs of each start; queries, slopes :
// (n_pairs,); second : (n_points,) second moments, with their decay and the correction of their bias
template <class M>
LANN_INLINE void descend(ConstIndices neighbors, ConstIndices starts, ConstIndices queries, ConstFloats slopes,
                         ConstFloats axis_mask, ConstFloats2 points, ConstFloats2 roots, Array<M, 3> matrices,
                         ConstFloats scales, double loss_factor, double regularization, double rate, double decay,
                         double correction, Floats second, Floats by_scale) {
    MatrixPoints<M> metric(points, roots, matrices);
    const Index n_axes = metric.n_axes, rank = metric.rank;
    require(starts.size() == neighbors.size() + 1 && by_scale.shape == neighbors.shape, "neighbors");
    require(queries.shape == slopes.shape && axis_mask.size() == n_axes, "pairs");
    require(scales.size() == points.size(0) && second.shape == scales.shape, "points");
    std::vector<double> buffer(n_axes * rank);
    double *__restrict gradient = buffer.data();
    for (Index number = 0; number < neighbors.size(); ++number) {
        const Index j = neighbors[number], first = starts[number], n_pairs = starts[number + 1] - first;
        by_scale[number] = loss_factor * add_pairs(metric, j, scales[j], queries.data + first, slopes.data + first,
                                                   n_pairs, axis_mask.data, gradient);
        M *__restrict own = metric.matrix(j);
        for (Index entry = 0; entry < n_axes * rank; ++entry)
            gradient[entry] = loss_factor * gradient[entry] + regularization * double(own[entry]);
        for (Index a = 0; a < rank; ++a) gradient[a * rank + a] -= regularization;
        const double size = squared_norm(gradient, n_axes * rank) / double(n_axes);
        if (!(size < HUGE_DISTANCE)) continue;
        second[j] += (1.0 - decay) * (size - second[j]);
        const double length = rate / (std::sqrt(second[j] * correction) + 1e-4);
        for (Index entry = 0; entry < n_axes * rank; ++entry) own[entry] = M(own[entry] - length * gradient[entry]);
    }
}

// Write the mean squared singular value of the A of some points, Σ A² / n_axes, to `out` (n_points,).
template <class M>
LANN_INLINE void mean_squares(ConstIndices rows, Array<const M, 3> matrices, Floats out) {
    const Index size = matrices.size(1) * matrices.size(2);
    require(out.size() == matrices.size(0), "points");
    for (Index j : rows) out[j] = squared_norm(&matrices(j, 0, 0), size) / double(matrices.size(1));
}

// Replace a share of each matrix by the mean of its neighbors, one after another, in place.
// neighbors : (n_points, k), -1 for none
template <class M>
LANN_INLINE void mix_matrices(Array<M, 3> matrices, ConstIndices2 neighbors, double share) {
    const Index size = matrices.size(1) * matrices.size(2);
    require(neighbors.size(0) == matrices.size(0), "neighbors");
    for (Index i = 0; i < neighbors.size(0); ++i) {
        const auto own_neighbors = neighbors[i];
        const Index count = std::count_if(own_neighbors.begin(), own_neighbors.end(), [](Index j) { return j >= 0; });
        M *own = &matrices(i, 0, 0);
        for (Index entry = 0; count && entry < size; ++entry) own[entry] = M(own[entry] * (1.0 - share));
        for (Index j : own_neighbors)
            for (Index entry = 0; j >= 0 && entry < size; ++entry)
                own[entry] = M(own[entry] + share / double(count) * matrices.data[j * size + entry]);
    }
}

// Online training, one query at a time.

// Bounded weights, and mean squared singular values, stay within e^±6.
static const double LARGEST_WEIGHT = std::exp(6.0);
enum Constraint : Index { norm, determinant, bounded };

LANN_INLINE double bound(double weight) { return std::min(std::max(weight, 1.0 / LARGEST_WEIGHT), LARGEST_WEIGHT); }

// Replace a share of the parameters of the neighbors with the label of the query by their mean.
// parameters : (n_points, size); mean : (size,) buffer
template <class T>
LANN_INLINE void mix_same_class(const Neighbors &near, Index label, double share, T *parameters, Index size,
                                double *__restrict mean) {
    double count = 0.0;
    std::fill(mean, mean + size, 0.0);
    for (Index slot = 0; slot < near.count; ++slot) {
        if (near.labels[slot] != label) continue;
        const T *own = parameters + near.indices[slot] * size;
        for (Index entry = 0; entry < size; ++entry) mean[entry] += own[entry];
        count += 1.0;
    }
    for (Index slot = 0; slot < near.count && count > 1.0; ++slot) {
        if (near.labels[slot] != label) continue;
        T *own = parameters + near.indices[slot] * size;
        for (Index entry = 0; entry < size; ++entry) own[entry] = T(own[entry] + share * (mean[entry] / count - own[entry]));
    }
}

// A published step on the λ = √w of a point, for rate · ∂loss/∂d = `step`, and its constraint; unless all become 0.
// x, point, weights, moved : (n_axes,), the last is a buffer
LANN_INLINE void take_published_step(const double *x, const double *point, double *__restrict weights, Index n,
                                     double step, Index constraint, double *__restrict moved) {
    for (Index a = 0; a < n; ++a) {  // λ − rate · ∂loss/∂λ with ∂d/∂λ = 2 λ (x − p)²
        const double difference = x[a] - point[a];
        const double root = std::sqrt(weights[a]) * (1.0 - 2.0 * step * (difference * difference));
        moved[a] = root * root;
    }
    double total = 0.0, logarithms = 0.0;
    for (Index a = 0; a < n; ++a) total += moved[a];
    if (!(total > 0.0 && total < infinity)) return;
    if (constraint == norm) {
        const double scale = double(n) / total;
        for (Index a = 0; a < n; ++a) weights[a] = moved[a] * scale;
        return;
    }
    if (constraint == determinant)
        for (Index a = 0; a < n; ++a) logarithms += std::log(std::max(moved[a], std::numeric_limits<double>::min()));
    const double scale = constraint == determinant ? std::exp(-logarithms / double(n)) : 1.0;
    for (Index a = 0; a < n; ++a) weights[a] = bound(moved[a] * scale);
}

// Take one published step for each row of a block that was searched at once; returns the total loss, and how many
// points have smaller weights now, which are listed in `decreased_list`. As long as no weight of a point has decreased
// below `slack` times what it was, neither has any distance to it: the few points with a larger decrease are measured
// again, and if the limits do not prove that no other point is nearer, all points are.
// rows : (n_rows,); candidates : (n_rows, n_candidates), -1 for none; limits, sizes : (n_rows,) and `rounding` bound the
// distances to all other points under `lifted_weights`; decreased : (n_points,) all false, true where listed
LANN_INLINE std::tuple<double, Index> published_steps(
    ConstIndices rows, ConstIndices2 candidates, ConstFloats limits, ConstFloats sizes, double rounding,
    ConstFloats2 lifted_weights, Array<bool, 1> decreased, Indices decreased_list, ConstFloats2 points,
    Targets targets, Floats2 weights, LossRule rule, double epsilon, Index constraint, double rate, double slack) {
    const Index n = points.size(1), n_points = points.size(0);
    require(rule.n_neighbors > 0 && candidates.size(0) == rows.size() && limits.shape == rows.shape && sizes.shape == rows.shape, "rows");
    require(weights.shape == points.shape && lifted_weights.shape == points.shape, "weights");
    require(targets.are_of(n_points) && decreased.size() == n_points, "points");
    require(decreased_list.size() >= std::min(n_points, rows.size() * rule.n_neighbors), "decreased");
    Neighbors near(rule);
    std::vector<double> moved(n);
    Index n_decreased = 0;
    double total = 0.0;
    for (Index r = 0; r < rows.size(); ++r) {
        const Index i = rows[r];
        const double *x = &points(i, 0);
        auto measure = [&](Index j) __attribute__((always_inline)) {
            near.add(epsilon + diagonal_distance(x, &points(j, 0), &weights(j, 0), n), j);
        };
        near.clear();
        for (Index c = 0; c < candidates.size(1); ++c) {
            const Index j = candidates(r, c);
            if (j >= 0 && j != i && !decreased[j]) measure(j);
        }
        for (Index c = 0; c < n_decreased; ++c)
            if (decreased_list[c] != i) measure(decreased_list[c]);
        const double farthest = near.distances[near.k - 1] / slack;
        if (!(limits[r] > farthest + rounding_bound(sizes[r], farthest, rounding))) {
            near.clear();
            for (Index j = 0; j < n_points; ++j)
                if (j != i) measure(j);
        }
        total += near.loss(rule, i, targets);
        for (Index slot = 0; slot < near.count; ++slot) {
            const Index j = near.indices[slot];
            double *own = &weights(j, 0);
            const double *lifted = &lifted_weights(j, 0);
            take_published_step(x, &points(j, 0), own, n, rate * near.slopes[slot], constraint, moved.data());
            Index n_less = 0;
            for (Index a = 0; a < n; ++a) n_less += own[a] < slack * lifted[a];
            if (n_less && !decreased[j]) {
                decreased[j] = true;
                decreased_list[n_decreased++] = j;
            }
        }
    }
    return {total, n_decreased};
}

// Take one step on the log weights of the nearest candidates of each row, in order, none larger than 0.5; returns the
// total loss. Weights stay bounded, and a share `smoothing` is replaced by the mean of same-class neighbors.
// rows : (n_rows,); candidates : (n_rows, n_candidates), -1 for none
LANN_INLINE double relative_weight_steps(ConstIndices rows, ConstIndices2 candidates, ConstFloats2 points,
                                         Targets targets, Floats2 weights, LossRule rule, double epsilon, double rate,
                                         double smoothing) {
    const Index n = points.size(1);
    require(candidates.size(0) == rows.size() && weights.shape == points.shape, "rows");
    require(targets.are_of(points.size(0)), "points");
    Neighbors near(rule);
    std::vector<double> moved(n);
    double total = 0.0;
    for (Index r = 0; r < rows.size(); ++r) {
        const Index i = rows[r];
        const double *x = &points(i, 0);
        near.clear();
        for (Index c = 0; c < candidates.size(1); ++c) {
            const Index j = candidates(r, c);
            if (j >= 0 && j != i) near.add(epsilon + diagonal_distance(x, &points(j, 0), &weights(j, 0), n), j);
        }
        total += near.loss(rule, i, targets);
        for (Index slot = 0; slot < near.count; ++slot) {
            const double *point = &points(near.indices[slot], 0);
            double *own = &weights(near.indices[slot], 0), sum_of_moved = 0.0;
            for (Index a = 0; a < n; ++a) {
                const double change = -rate * near.slopes[slot] * own[a] * (x[a] - point[a]) * (x[a] - point[a]);
                moved[a] = own[a] * std::exp(std::min(std::max(change, -0.5), 0.5));  // 1/d explodes for duplicates
                sum_of_moved += moved[a];
            }
            if (sum_of_moved > 0.0 && sum_of_moved < infinity)
                for (Index a = 0; a < n; ++a) own[a] = bound(moved[a]);
        }
        if (smoothing > 0.0) mix_same_class(near, targets.labels[i], smoothing, weights.data, n, moved.data());
    }
    return total;
}

// Take one step on the matrix of each nearest candidate of each row, in order, and return the total loss; without
// columns, all points are candidates. A step, Ω − rate · ∂loss/∂Ω with ∂d/∂Ω = 2 u uᵀΩ, is (I − c uuᵀ) Ω with
// c = 2 · rate · ∂loss/∂d, where |c| ‖u‖² is at most `largest_step`. It multiplies the determinant by 1 − c ‖u‖², which
// is undone by a factor if it is fixed. Afterwards, the trace of Λ is n_axes if the norm is fixed, or the mean squared
// singular value of Ω is bounded.
template <class M>
LANN_INLINE double matrix_steps(ConstIndices rows, ConstIndices2 candidates, ConstFloats2 points, Targets targets, ConstFloats2 roots, Array<M, 3> matrices, LossRule rule,
                                double epsilon, double rate, double largest_step, Index constraint, double smoothing) {
    MatrixPoints<M> metric(points, roots, matrices);
    const Index n_axes = metric.n_axes, rank = metric.rank;
    require(candidates.size(0) == rows.size(), "rows");
    require(targets.are_of(points.size(0)), "points");
    const bool all = candidates.size(1) == 0;
    const Index n_candidates = all ? points.size(0) : candidates.size(1);
    Neighbors near(rule);
    std::vector<double> buffer(n_axes * rank);
    double total = 0.0;
    for (Index r = 0; r < rows.size(); ++r) {
        const Index i = rows[r];
        near.clear();
        for (Index c = 0; c < n_candidates; ++c) {
            const Index j = all ? c : candidates(r, c);
            if (j >= 0 && j != i) near.add(epsilon + metric.measure(i, j, nullptr), j);
        }
        total += near.loss(rule, i, targets);
        for (Index slot = 0; slot < near.count; ++slot) {
            const Index j = near.indices[slot];
            const double squared = metric.measure(i, j, nullptr), length = squared_norm(metric.step.data(), n_axes);
            double c = 2.0 * rate * near.slopes[slot];
            if (std::abs(c) * length > largest_step) c = std::copysign(largest_step / length, c);
            // ‖Ω'‖² = ‖Ω‖² − 2c ‖Ωᵀu‖² + c² ‖u‖² ‖Ωᵀu‖²
            M *__restrict own = metric.matrix(j);
            const double *__restrict projected = metric.projected.data();
            const double after = squared_norm(own, n_axes * rank) - 2.0 * c * squared + (c * length) * (c * squared);
            if (!(after > 0.0 && after < HUGE_DISTANCE)) continue;
            const double factor = constraint == determinant ? std::pow(1.0 - c * length, -1.0 / double(n_axes)) : 1.0;
            for (Index a = 0; a < n_axes; ++a) {
                M *__restrict row = own + a * rank;
                const double change = c * metric.step[a];
                for (Index b = 0; b < rank; ++b) row[b] = M(factor * (row[b] - change * projected[b]));
            }
        }
        if (smoothing > 0.0) mix_same_class(near, targets.labels[i], smoothing, matrices.data, n_axes * rank, buffer.data());
        for (Index slot = 0; slot < near.count; ++slot) {
            const Index j = near.indices[slot];
            M *own = metric.matrix(j);
            double mean = 0.0;
            for (Index a = 0; a < n_axes; ++a) {
                const double factor = constraint == norm ? roots(j, a) : 1.0;
                mean += factor * factor * squared_norm(own + a * rank, rank) / double(n_axes);
            }
            const double wanted = constraint == norm ? 1.0 : bound(mean);
            if (!(mean > 0.0) || wanted == mean) continue;
            const double factor = std::sqrt(wanted / mean);
            for (Index entry = 0; entry < n_axes * rank; ++entry) own[entry] = M(own[entry] * factor);
        }
    }
    return total;
}

template <class M>
static void bind_matrices(nb::module_ &m) {
    def_wide<matrix_pair_distances<M>>(m, "matrix_pair_distances");
    def_wide<descend<M>>(m, "descend");
    def_wide<mean_squares<M>>(m, "mean_squares");
    def_wide<mix_matrices<M>>(m, "mix_matrices");
    def_wide<matrix_steps<M>>(m, "matrix_steps");
}

void bind_training(nb::module_ &m) {
    def(m, "compact_batch", &compact_batch);
    def(m, "cell_values", &cell_values);
    def(m, "add_by_cell", &add_by_cell);
    def_wide<adam_step>(m, "adam_step");
    def_wide<mix_with_neighbors>(m, "mix_with_neighbors");
    def_wide<loss_and_gradients>(m, "loss_and_gradients");
    def(m, "batch_loss", &batch_loss);
    def_wide<published_steps>(m, "published_steps");
    def_wide<relative_weight_steps>(m, "relative_weight_steps");
    bind_matrices<double>(m);
    bind_matrices<float>(m);
}

}  // namespace lann
