// Search for the nearest points: running shortlists over tiles of distances, selections, and a plain pass.
#include "distances.hpp"
#include "top_k.hpp"

#include <algorithm>
#include <vector>

namespace lann {

// Number of values that are scanned together, that are written together, and of which the hits are listed first.
constexpr Index group = 32, subgroup = 8, stretch = 512;

// Add to `hits` those of the parts of `length` values, beginning at the `starts`, in which a value is below `limit`.
template <Index length, class T>
LANN_INLINE Index list_hits(const T *values, const Index *starts, Index n_starts, Index step, Index n_parts, T limit,
                            Index *hits) {
    Index n_hits = 0;
    for (Index number = 0; number < n_starts; ++number) {
        for (Index part = 0; part < n_parts; ++part) {
            const Index start = starts[number] + part * step;
            std::int32_t count = 0;
            for (Index i = 0; i < length; ++i) count += values[start + i] < limit;
            hits[n_hits] = start;
            n_hits += count > 0;
        }
    }
    return n_hits;
}

// Merge one tile of distances into the running lists of some queries: the `keep` smallest of each.
//
// A list grows to its capacity before it is cut back to about `keep`, so that most values cost one comparison, a group at
// a time. Hits are rare and come without order, so that every branch on them would be mispredicted: groups with hits are
// listed, then their subgroups, in which every value is written and the count advances only past the near ones. The
// first tile sets a limit before anything is written.
//
// tile: (n_rows, width), whole groups; rows: (n_rows,) queries, where empty all; first: index of the first point
// values, indices: (n_queries, capacity), capacity at least keep + 2 groups; counts, limits: (n_queries,)
template <class T>
LANN_INLINE void scan_rows(Array<const T, 2> tile, ConstIndices rows, Index first, Array<T, 2> values,
                           Array<std::int32_t, 2> indices, Indices counts, Array<T, 1> limits, Index keep) {
    const Index full = values.size(1) - group;
    require(tile.size(1) % group == 0 && (rows.size() ? rows : counts).size() == tile.size(0), "tile");
    require(values.shape == indices.shape && full >= keep + group && keep > 0, "capacity");
    require(counts.size() == values.size(0) && limits.size() == values.size(0), "queries");
    for (Index number = 0; number < tile.size(0); ++number) {
        const Index query = rows.size() ? rows[number] : number;
        T limit = limits[query], *near = &values(query, 0);
        std::int32_t *found = &indices(query, 0);
        Index count = counts[query];
        if (count == 0 && tile.size(1) > full) lower_limit(&tile(number, 0), tile.size(1), keep, limit);
        for (Index start = 0; start < tile.size(1); start += stretch) {
            const T *row = &tile(number, start);
            const Index none = 0, n_groups = std::min(stretch, tile.size(1) - start) / group;
            Index groups[stretch / group + 1], parts[stretch / subgroup + 1];
            const Index n_near = list_hits<group>(row, &none, 1, group, n_groups, limit, groups);
            const Index n_parts = list_hits<subgroup>(row, groups, n_near, subgroup, group / subgroup, limit, parts);
            for (Index part = 0; part < n_parts; ++part) {
                for (Index slot = parts[part]; slot < parts[part] + subgroup; ++slot) {
                    near[count] = row[slot];
                    found[count] = std::int32_t(first + start + slot);
                    count += row[slot] < limit;
                }
                if (count > full) count = cut(near, found, count, keep, limit);
            }
        }
        counts[query] = count;
        limits[query] = limit;
    }
}

// Cut every list to its `keep` smallest; afterwards `limits` is a lower bound of all other values.
template <class T>
LANN_INLINE void finish_lists(Array<T, 2> values, Array<std::int32_t, 2> indices, Indices counts, Array<T, 1> limits, Index keep) {
    require(values.shape == indices.shape && 0 < keep && keep <= values.size(1), "capacity");
    require(counts.size() == values.size(0) && limits.size() == values.size(0), "queries");
    for (Index query = 0; query < values.size(0); ++query) {
        if (counts[query] <= keep) continue;
        T *near = &values(query, 0), limit = limits[query];
        const Index count = cut(near, &indices(query, 0), counts[query], keep, limit);
        partition(near, &indices(query, 0), count, keep - 1);
        counts[query] = keep;
        limits[query] = near[keep - 1];
    }
}

// The k smallest distances of each query and their indices, in order; a negative index marks an empty slot.
//
// distances, indices: (n_queries, n_candidates); best_indices, best_distances: (n_queries, k) the result
void smallest(ConstFloats2 distances, ConstIndices2 indices, Indices2 best_indices, Floats2 best_distances) {
    const Index n_queries = distances.size(0), n_candidates = distances.size(1), k = best_indices.size(1);
    require(indices.shape == distances.shape && best_distances.shape == best_indices.shape, "candidates");
    require(best_indices.size(0) == n_queries, "queries");
    std::fill(best_distances.begin(), best_distances.end(), infinity);
    std::fill(best_indices.begin(), best_indices.end(), -1);
    if (k == 0 || n_candidates == 0) return;
    std::vector<double> row_distances(n_candidates);
    std::vector<Index> row_indices(n_candidates);
    for (Index query = 0; query < n_queries; ++query) {
        const double *measured = &distances(query, 0);
        const Index *candidates = &indices(query, 0);
        double *best = &best_distances(query, 0);
        Index *found = &best_indices(query, 0);
        if (k <= few) {
            for (Index slot = 0; slot < n_candidates; ++slot)
                if (candidates[slot] >= 0) insert(best, found, k, measured[slot], candidates[slot]);
            continue;
        }
        Index count = 0;
        for (Index slot = 0; slot < n_candidates; ++slot) {
            row_distances[count] = measured[slot];
            row_indices[count] = candidates[slot];
            count += candidates[slot] >= 0;
        }
        sort_smallest(row_distances.data(), row_indices.data(), count, k);
        std::copy_n(row_distances.begin(), std::min(k, count), best);
        std::copy_n(row_indices.begin(), std::min(k, count), found);
    }
}

// Positions of the n smallest values of each row, in order; equal values by position.
//
// values: (n_rows, width), none infinite; out: (n_rows, n)
void smallest_positions(ConstFloats2 values, Array<std::int32_t, 2> out) {
    const Index width = values.size(1), n = out.size(1);
    require(values.size(0) == out.size(0) && n <= width, "rows");
    using Entry = std::pair<double, std::int32_t>;
    std::vector<Entry> heap(n);  // the n smallest so far, the largest on top
    for (Index row = 0; row < values.size(0) && n > 0; ++row) {
        for (Index position = 0; position < n; ++position) heap[position] = {values(row, position), position};
        std::make_heap(heap.begin(), heap.end());
        for (Index position = n; position < width; ++position) {
            if (values(row, position) < heap[0].first) {
                std::pop_heap(heap.begin(), heap.end());
                heap[n - 1] = {values(row, position), position};
                std::push_heap(heap.begin(), heap.end());
            }
        }
        std::sort_heap(heap.begin(), heap.end());
        for (Index position = 0; position < n; ++position) out(row, position) = heap[position].second;
    }
}

// The k nearest points of each query under the weights of their classes, in order, by one pass over all points; by
// another one where the cells of the query have too few.
//
// queries: (n_queries, n_axes); points: (n_points, n_axes); labels: (n_points,); class_weights: (n_classes, n_axes)
// rows: (n_rows,) points that are searched; where empty all
// cells: (n_points,), probed: (n_queries, n_cells) which are searched; probed is empty for all points
// excluded: (n_queries,) a position that is left out, -1 for none; own_label: only points of this class, -1 for all
// indices, distances: (n_queries, k) the result: positions in `rows`, -1 where there are fewer
template <class T>
LANN_INLINE void scan_points(ConstFloats2 queries, Array<const T, 2> points, ConstIndices labels,
                             ConstFloats2 class_weights, ConstIndices rows, Array<const std::int32_t, 1> cells,
                             Array<const bool, 2> probed, ConstIndices excluded, Index own_label, Indices2 indices,
                             Floats2 distances) {
    const Index n_axes = points.size(1), k = indices.size(1), n_rows = rows.size() ? rows.size() : points.size(0);
    require(queries.size(1) == n_axes && class_weights.size(1) == n_axes && labels.size() == points.size(0), "points");
    require(indices.size(0) == queries.size(0) && distances.shape == indices.shape && k > 0, "queries");
    require(excluded.size() == queries.size(0), "excluded");
    require(!probed.size() || (probed.size(0) == queries.size(0) && cells.size() == points.size(0)), "cells");
    for (Index query = 0; query < queries.size(0); ++query) {
        const double *x = &queries(query, 0);
        double *squared = &distances(query, 0);
        Index *near = &indices(query, 0);
        for (bool by_cell = probed.size() > 0;; by_cell = false) {
            std::fill_n(squared, k, infinity);
            std::fill_n(near, k, -1);
            for (Index position = 0; position < n_rows; ++position) {
                const Index j = rows.size() ? rows[position] : position;
                if (by_cell && !probed(query, cells[j])) continue;
                if (own_label >= 0 && labels[j] != own_label) continue;
                const double total = diagonal_distance(x, &points(j, 0), &class_weights(labels[j], 0), n_axes);
                if ((total < squared[k - 1] || near[k - 1] < 0) && position != excluded[query])
                    insert(squared, near, k, total, position);
            }
            if (!by_cell || near[k - 1] >= 0) break;
        }
    }
}

void bind_search(nb::module_ &m) {
    def_wide<scan_rows<float>>(m, "scan_rows");
    def_wide<scan_rows<double>>(m, "scan_rows");
    def_wide<finish_lists<float>>(m, "finish_lists");
    def_wide<finish_lists<double>>(m, "finish_lists");
    def(m, "smallest", &smallest);
    def(m, "smallest_positions", &smallest_positions);
    def_wide<scan_points<float>>(m, "scan_points");
    def_wide<scan_points<double>>(m, "scan_points");
}

}  // namespace lann
