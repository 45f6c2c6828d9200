// The impostors of LMNN: rows of other classes within the margin of a query.
#include "simd.hpp"

#include <algorithm>
#include <limits>

namespace lann {

// Return the sum of the squared hinges of all triplets in a tile, and add their slopes to the sums.
//
// A triplet of query i, target t and impostor l, a row of another class, costs [margin_it − d_il]₊²; its slope is
// s_itl = 2 [margin_it − d_il]₊.
//
// tile : (n_queries, n_columns) squared distances d_il minus the norms of the queries
// first : position in X, the rows of a group sorted by class, of the first column of the tile
// same_class : (n_queries, 2) the rows of the class of each query: the first, and after the last
// norms : (n_queries,) ‖Ωx‖²; margins : (n_queries, n_targets) 1 + d_it, −inf where a target is missing
// by_target : (n_queries, n_targets) Σ_l s; weighted_rows : (n_queries, n_features) Σ_tl s x_l
// by_query : (n_queries,) Σ_tl s; by_row : (n_rows,) Σ_it s
LANN_INLINE double add_impostors(ConstFloats2 tile, Index first, ConstFloats2 X, ConstIndices2 same_class,
                                 ConstFloats norms, ConstFloats2 margins, Floats2 by_target, Floats2 weighted_rows,
                                 Floats by_query, Floats by_row) {
    constexpr Index group = 32;  // distances that are compared with the limit at once
    const Index n_queries = tile.size(0), n_columns = tile.size(1), n_targets = margins.size(1);
    require(X.size(0) == by_row.size() && first + n_columns <= X.size(0), "rows");
    require(X.size(1) == weighted_rows.size(1) && by_target.shape == margins.shape, "features");
    require(same_class.size(0) == n_queries && same_class.size(1) == 2 && norms.size() == n_queries, "queries");
    require(margins.size(0) == n_queries && weighted_rows.size(0) == n_queries && by_query.size() == n_queries, "sums");
    double total = 0.0;
    for (Index query = 0; query < n_queries; ++query) {
        double widest = -std::numeric_limits<double>::infinity();
        for (double margin : margins[query]) widest = std::max(widest, margin);
        const double limit = widest - norms[query];
        for (Index start = 0; start < n_columns; start += group) {
            const double *distances = &tile(query, start);
            const Index n = std::min(group, n_columns - start);
            Index n_near = 0;
            for (Index column = 0; column < n; ++column) n_near += distances[column] < limit;
            for (Index column = 0; n_near > 0 && column < n; ++column) {
                const Index impostor = first + start + column;
                if (!(distances[column] < limit)) continue;
                --n_near;
                if (same_class(query, 0) <= impostor && impostor < same_class(query, 1)) continue;
                double slope = 0.0;
                for (Index target = 0; target < n_targets; ++target) {
                    const double hinge = margins(query, target) - (distances[column] + norms[query]);
                    if (!(hinge > 0.0)) continue;
                    total += hinge * hinge;
                    by_target(query, target) += 2.0 * hinge;
                    slope += 2.0 * hinge;
                }
                by_query[query] += slope;
                by_row[impostor] += slope;
                const double *__restrict row = X[impostor].data;
                double *__restrict sums = weighted_rows[query].data;
                for (Index f = 0; f < X.size(1); ++f) sums[f] += slope * row[f];
            }
        }
    }
    return total;
}

void bind_lmnn(nb::module_ &m) { def_wide<add_impostors>(m, "add_impostors"); }

}  // namespace lann
