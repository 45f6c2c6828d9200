// Self-adjusting memories of streams: predict a row, learn it, choose the window, clean and compress the memories, and
// learn a metric besides.
//
// The arrays belong to Python, where `lann.streams._memory` creates them and says what they are. Rows are stored
// feature by feature, so that distances to many rows are computed at once.
#include "vote.hpp"

#include <cstring>
#include <numeric>
#include <vector>

namespace lann {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Squared distance of rows that have no feature in common.
constexpr double FARTHEST = 1e300;
// A neighbor counts at most this many times as much as the farthest that votes.
constexpr double LARGEST_RATIO = 1e9;
// η of the votes: see lann.vote.
constexpr double FLOOR = 0.02;
constexpr int MAX_ITER = 100;

// Entries of the counters, in the order of Python.
enum { START, STOP, N_LONG, N_SEEN, N_RESETS, N_COMPRESSIONS, N_BEFORE, HAS_GAPS, SEED, N_COUNTERS };
// Votes of SAMKNN, by the short-term rows, the long-term rows and both; and the newest rows, of explanations.
enum : Index { SHORT, LONG, COMBINED, NEWEST, N_PLAIN = NEWEST };
// Groups of extras of a stored row: its transformed values, point log weights u, and weights w.
enum { AXES, POINTS, WEIGHTS, N_GROUPS };
// Values that are learned, and the moments of their gradients.
enum { VALUE, FIRST, SECOND };
enum { WEIGHT, MEAN, VARIANCE };
enum { N_STEPS, NEXT_REFRESH, NEXT_BINS, COMPRESSIONS };

// Searches of SAMLANN: in both memories by the learned metric without and with the age, and by the plain distance; and
// among the newest rows by the learned metric with the age.
enum Search { TIMELESS, AGED, PLAIN, RECENT, N_SEARCHES };
constexpr Index N_FEW = 5, N_WIDE = 50;
// Its votes: search, number of neighbors, and power of the inverse squared distance. Vote 0 is that of SAMKNN.
struct Vote {
    Search search;
    Index n_neighbors;
    double power;
};
constexpr Vote VOTES[] = {
    {PLAIN, 0, 0.5},      {PLAIN, N_WIDE, 0.5}, {TIMELESS, N_FEW, 2.0},  {AGED, N_FEW, 2.0},    {AGED, N_WIDE, 2.0},
    {RECENT, N_FEW, 2.0}, {RECENT, 20, 1.0},    {RECENT, N_WIDE, 0.5}, {RECENT, N_WIDE, 2.0},
};
constexpr Index N_VOTES = sizeof(VOTES) / sizeof(Vote), SAM_VOTE = 0;
// Part of the typical squared distance that is added to every squared distance.
constexpr double GUARD = 1e-3;
// The loss of a row: power of the inverse squared distance, and η; smallest number of neighbors to learn from.
constexpr double LOSS_POWER = 3.0, LOSS_FLOOR = 0.02;
constexpr Index SMALLEST_VOTE = 6;
// Records of the votes forget at this rate per row; so does the typical distance.
constexpr double RECORD_DECAY = 0.995, TYPICAL_RATE = 0.005;
// The share of the weights of the votes that is always spread over all.
constexpr double MIX_SHARE = 0.01, SMALLEST_PROBABILITY = 1e-9;
// Part of the vote with the best record in the probabilities; that of SAMKNN decides alone where it leads the mixture
// by this much.
constexpr double BEST_SHARE = 0.5, CLEAR_LEAD = 0.03;

constexpr Index N_BINS = 8, N_EDGES = N_BINS - 1;
// Number of rows after which the weight of a row in the standardization is half.
constexpr double HALF_LIFE = 5000.0;
// What is learned is applied after this many rows, or after a tenth of the rows so far. The bins are chosen again after
// this many rows, or a fifth of the rows so far, from this many rows.
constexpr Index REFRESH_INTERVAL = 10, BIN_INTERVAL = 500, BIN_ROWS = 1000;
// Standard deviations below this share of the mean are rounding.
constexpr double LEAST_VARIATION = 1e-12;
// Bound of standardized values.
constexpr double LARGEST_VALUE = 1e6;
// Bounds of the log weights a and of the age, and of s, v and u.
constexpr double LOWEST = -5.0, HIGHEST = 3.0, LARGEST_DEPARTURE = 3.0;
// Adam, and the gradient of the penalty on s and v per unit.
constexpr double RATE = 0.01, DECAY_FIRST = 0.9, DECAY_SECOND = 0.999, SMALLEST_ROOT = 1e-4, PENALTY = 0.01;
// Steps on the point weights u, their largest change, and the share of u that each step forgets.
constexpr double POINT_RATE = 0.5, LARGEST_POINT_STEP = 0.5, POINT_DECAY = 0.025;

double clamp(double value, double low, double high) { return std::min(std::max(value, low), high); }

// ---- Distances and nearest rows

// Squared distances of x to the columns [column, column + 4 vectors) of X: (n_features, stride).
template <class V, bool Weighted, bool Gaps>
LANN_INLINE void measure_some(const double *X, const double *weights, Index stride, const double *x, Index n_features,
                              Index column, double *out) {
    constexpr Index n_vectors = sizeof(V) == sizeof(double) ? 1 : 4, width = sizeof(V) / sizeof(double);
    V total[n_vectors]{}, common[n_vectors]{};
    for (Index f = 0; f < n_features; ++f) {
        if (Gaps && x[f] != x[f]) continue;
        for (Index i = 0; i < n_vectors; ++i) {
            const Index offset = f * stride + column + i * width;
            const V step = load<V>(X + offset) - x[f];
            V term = step * step;
            if constexpr (Weighted) term = load<V>(weights + offset) * step * step;
            if constexpr (Gaps) {
                total[i] += step == step ? term : V{};  // unless NaN
                common[i] += step == step ? V{} + 1.0 : V{};
            } else {
                total[i] += term;
            }
        }
    }
    for (Index i = 0; i < n_vectors; ++i) {
        if constexpr (Gaps) {
            const V all = V{} + double(n_features);
            total[i] = common[i] < all ? total[i] * (all / common[i]) : total[i];
            total[i] = common[i] == 0.0 ? V{} + FARTHEST : total[i];
        }
        store(out + column + i * width, total[i]);
    }
}

// Squared distances of x to the columns from `start` to `stop` of X, by column.
//
// Every sum is over the features in order, so that a distance does not depend on the position of the row. With gaps, it
// is the sum over the features that both have, times the share of these among all.
template <bool Weighted, bool Gaps>
LANN_INLINE void measure(const double *X, const double *weights, Index stride, const double *x, Index n_features,
                         Index start, Index stop, double *out) {
    constexpr Index n = 16;
    Index column = start;
    for (; column + n <= stop; column += n)
        measure_some<Lanes, Weighted, Gaps>(X, weights, stride, x, n_features, column, out);
    for (; column < stop; ++column)
        measure_some<double, Weighted, Gaps>(X, weights, stride, x, n_features, column, out);
}

void squared_distances(ConstFloats2 X, Index start, Index stop, const double *x, bool gaps, double *out) {
    auto run = gaps ? &Wide<measure<false, true>>::run : &Wide<measure<false, false>>::run;
    run(X.data, nullptr, X.size(1), x, X.size(0), start, stop, out);
}

// The same under a learned metric: extras (N_GROUPS, n_features, capacity), and a transformed row.
void weighted_distances(ConstFloats3 extras, Index start, Index stop, const double *axes, bool gaps, double *out) {
    auto run = gaps ? &Wide<measure<true, true>>::run : &Wide<measure<true, false>>::run;
    run(extras[AXES].data, extras[WEIGHTS].data, extras.size(2), axes, extras.size(1), start, stop, out);
}

// The k nearest rows so far, nearest first; long-term rows are ~column. Of rows at the same distance, the one that was
// inserted last comes first.
struct Nearest {
    explicit Nearest(Index k) : k(k), columns(k), lengths(k) {}

    void insert(Index column, double length) {
        Index i = n < k ? n++ : k - 1;
        for (; i > 0 && lengths[i - 1] >= length; --i) {
            lengths[i] = lengths[i - 1];
            columns[i] = columns[i - 1];
        }
        lengths[i] = length;
        columns[i] = column;
    }
    // Squared distance from which on a row is not inserted.
    double limit() const { return n == k ? lengths[k - 1] : infinity; }

    Index k, n = 0;
    std::vector<Index> columns;
    std::vector<double> lengths;
};

// Call `visit` with the columns from `high` - 1 down to `low` whose distance is at most `limit()`: the older of rows at
// the same distance is nearer, as in the authors' program.
template <class Limit, class Visit>
LANN_INLINE void visit_near(const double *distances, Index low, Index high, Limit limit, Visit visit) {
    constexpr Index n = 16;
    Index column = high;
    while (column > low) {
        const double largest = limit();
        if (column - n >= low) {
            int n_near = 0;
            for (Index i = column - n; i < column; ++i) n_near += distances[i] <= largest;
            if (n_near == 0) {
                column -= n;
                continue;
            }
        }
        const Index last = std::max(column - n, low);
        while (column > last) {
            --column;
            if (distances[column] <= limit()) visit(column);
        }
    }
}

LANN_INLINE void extend_body(const double *distances, Index low, Index high, bool is_long, Nearest &nearest) {
    visit_near(
        distances, low, high, [&] { return nearest.limit(); },
        [&](Index column) { nearest.insert(is_long ? ~column : column, distances[column]); });
}

// Add the columns from `low` to `high` to the nearest.
void extend(const double *distances, Index low, Index high, Nearest &nearest, bool is_long = false) {
    Wide<extend_body>::run(distances, low, high, is_long, nearest);
}

bool has_gap(const double *x, Index n) {
    return std::any_of(x, x + n, [](double value) { return value != value; });
}

// Copy the values of one row between arrays whose last dimension is that of the rows.
template <class T, class S, int N>
void copy_column(Array<T, N> to, Index column, Array<S, N> from, Index from_column) {
    const Index length = to.shape[N - 1], from_length = from.shape[N - 1];
    for (Index i = 0; i * length < to.size(); ++i)
        to.data[i * length + column] = T(from.data[i * from_length + from_column]);
}

// ---- Compression: k-means of the rows of each class, with half as many centers

// Random numbers from 0 to 1 (splitmix64).
struct Random {
    std::uint64_t state;

    double operator()() {
        state += 0x9E3779B97F4A7C15u;
        std::uint64_t bits = state;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
        return double((bits ^ (bits >> 31)) >> 11) / 9007199254740992.0;
    }
};

// Centers of k-means from a start by k-means++, and the center of each row; every center keeps at least one row.
//
// A pass measures only what can have changed: rows to the centers that moved, and rows whose own center has moved away
// from them to the others.
class KMeans {
public:
    // X : (n_features, n_rows); centers : (n_features, n_centers), members : (n_rows,), written by `run`.
    KMeans(ConstFloats2 X, bool gaps, Floats2 centers, Indices members)
        : X(X), centers(centers), members(members), gaps(gaps), n_rows(X.size(1)), n_centers(centers.size(1)),
          n_features(X.size(0)), x(n_features), nearest(n_rows, infinity), distances(std::max(n_rows, n_centers)),
          sums(n_centers), counts(n_centers), moved(n_centers), away(n_rows) {
        require(centers.size(0) == n_features && members.size() == n_rows && n_centers <= n_rows, "centers");
    }

    void run(Random &random) {
        start(random);
        for (int iteration = 0; iteration < MAX_ITER && move(); ++iteration) {
            const bool changed = assign();
            keep_one_member();
            if (!changed) break;
        }
    }

private:
    // Squared distances of a column of an array to the columns from `start` to `stop` of another.
    void measure_to(ConstFloats2 from, Index column, ConstFloats2 to, Index start, Index stop) {
        for (Index f = 0; f < n_features; ++f) x[f] = from(f, column);
        squared_distances(to, start, stop, x.data(), gaps, distances.data());
    }

    // Draw rows as centers: each with a probability in proportion to its squared distance.
    void start(Random &random) {
        std::vector<char> is_center(n_rows);
        for (Index center = 0; center < n_centers; ++center) {
            const Index drawn = draw(is_center, center, random());
            is_center[drawn] = true;
            copy_column(centers, center, X, drawn);
            measure_to(X, drawn, X, 0, n_rows);
            for (Index row = 0; row < n_rows; ++row) {
                if (distances[row] < nearest[row]) {
                    nearest[row] = distances[row];
                    members[row] = center;
                }
            }
            // Of rows that are equal, each is its own center.
            nearest[drawn] = 0.0;
            members[drawn] = center;
        }
    }

    // The next center; if all rows are equal to a center, any row that is none.
    Index draw(const std::vector<char> &is_center, Index n_drawn, double number) const {
        double total = 0.0, passed = 0.0;
        if (n_drawn > 0)
            for (Index row = 0; row < n_rows; ++row)
                if (!is_center[row]) total += nearest[row];
        const bool uniform = !(total > 0.0 && total < infinity);
        const double threshold = number * (uniform ? double(n_rows - n_drawn) : total);
        Index last = 0;
        for (Index row = 0; row < n_rows; ++row) {
            const double weight = uniform ? 1.0 : nearest[row];
            if (is_center[row] || weight == 0.0) continue;
            passed += weight;
            last = row;
            if (passed > threshold) break;
        }
        return last;
    }

    // Move every center to the mean of its rows, note which have moved, and return whether one has. Missing values do
    // not count; a center has a gap where all of its rows have one.
    bool move() {
        std::fill(moved.begin(), moved.end(), false);
        for (Index f = 0; f < n_features; ++f) {
            std::fill(sums.begin(), sums.end(), 0.0);
            std::fill(counts.begin(), counts.end(), 0.0);
            for (Index row = 0; row < n_rows; ++row) {
                const double value = X(f, row);
                if (value != value) continue;
                sums[members[row]] += value;
                counts[members[row]] += 1.0;
            }
            for (Index center = 0; center < n_centers; ++center) {
                const double mean = counts[center] > 0.0 ? sums[center] / counts[center] : std::nan("");
                double &value = centers(f, center);
                if (mean == value || (mean != mean && value != value)) continue;
                value = mean;
                moved[center] = true;
            }
        }
        return std::count(moved.begin(), moved.end(), true) > 0;
    }

    // Assign rows to nearer centers; return whether one has changed its center.
    bool assign() {
        bool changed = false;
        const auto compare = [&](Index row, Index center, double distance) {
            if (!(distance < nearest[row])) return;
            nearest[row] = distance;
            members[row] = center;
            changed = true;
        };
        for (Index row = 0; row < n_rows; ++row) {
            away[row] = false;
            if (!moved[members[row]]) continue;
            measure_to(X, row, centers, members[row], members[row] + 1);
            away[row] = distances[members[row]] > nearest[row];
            nearest[row] = distances[members[row]];
        }
        for (Index row = 0; row < n_rows; ++row) {
            if (!away[row]) continue;
            measure_to(X, row, centers, 0, n_centers);
            for (Index center = 0; center < n_centers; ++center) compare(row, center, distances[center]);
        }
        for (Index center = 0; center < n_centers; ++center) {
            if (!moved[center]) continue;
            measure_to(centers, center, X, 0, n_rows);
            for (Index row = 0; row < n_rows; ++row) compare(row, center, distances[row]);
        }
        return changed;
    }

    // Give every center without a row the row that is farthest from its center, among those not alone.
    void keep_one_member() {
        std::vector<Index> sizes(n_centers);
        for (Index member : members) ++sizes[member];
        for (Index center = 0; center < n_centers; ++center) {
            if (sizes[center] > 0) continue;
            Index farthest = -1;
            for (Index row = 0; row < n_rows; ++row)
                if (sizes[members[row]] > 1 && (farthest < 0 || nearest[row] > nearest[farthest])) farthest = row;
            --sizes[members[farthest]];
            sizes[center] = 1;
            members[farthest] = center;
            nearest[farthest] = infinity;
        }
    }

    ConstFloats2 X;
    Floats2 centers;
    Indices members;
    bool gaps;
    Index n_rows, n_centers, n_features;
    std::vector<double> x, nearest, distances, sums, counts;
    std::vector<char> moved, away;
};

void k_means(ConstFloats2 X, bool gaps, std::uint64_t seed, Floats2 centers, Indices members) {
    Random random{seed};
    KMeans(X, gaps, centers, members).run(random);
}

// ---- Curves, weights and steps of the learned metric: loops over many values

// Values of one feature's curve: a line with the slope of the first bin, and a change of slope at every edge.
LANN_INLINE void transform_column(const double *values, double *axes, Index n, double center, double scale,
                                  const double *edges, const double *slopes) {
    double changes[N_EDGES];
    for (Index i = 0; i < N_EDGES; ++i) changes[i] = slopes[i + 1] - slopes[i];
    for (Index row = 0; row < n; ++row) {
        double value = (values[row] - center) / scale;
        value = value > LARGEST_VALUE ? LARGEST_VALUE : value;
        value = value < -LARGEST_VALUE ? -LARGEST_VALUE : value;
        double total = slopes[0] * value;
        for (Index i = 0; i < N_EDGES; ++i) {
            const double beyond = value - edges[i];
            total += changes[i] * (beyond > 0.0 ? beyond : 0.0);
        }
        axes[row] = total;
    }
}

// Squared distances with the age: `table` has the squared position of each age, and `age` is that of the first row.
LANN_INLINE void add_ages(const double *timeless, const double *table, Index age, double weight, Index n, double *out) {
    for (Index row = 0; row < n; ++row) out[row] = timeless[row] + weight * table[age - row];
}

// Multiply the weights of rows by the ratios of their classes.
LANN_INLINE void scale_column(double *weights, const Index *labels, const double *ratios, Index n) {
    for (Index row = 0; row < n; ++row) weights[row] *= ratios[labels[row]];
}

// A step of Adam on n values; `second` corrects the second moments for their start.
LANN_INLINE void adam(double *values, double *firsts, double *seconds, const double *gradients, Index n, double rate,
                      double second) {
    for (Index i = 0; i < n; ++i) {
        firsts[i] = DECAY_FIRST * firsts[i] + (1.0 - DECAY_FIRST) * gradients[i];
        seconds[i] = DECAY_SECOND * seconds[i] + (1.0 - DECAY_SECOND) * gradients[i] * gradients[i];
        values[i] -= rate * (firsts[i] / (std::sqrt(seconds[i] / second) + SMALLEST_ROOT));
    }
}

// ---- The memories

// Both memories, the record of their votes and the candidate windows; and the learned metric, unless it is None.
//
// Candidate window j has the newest n // 2^j short-term rows. A row of a window is predicted by the rows before it in
// the window; windows are compared by the accuracy over all but their first k rows. When a window loses its oldest row,
// its other rows keep their record: it is computed anew only if it could shrink the memory.
class Stream {
public:
    Stream(nb::object limits, nb::object memories, nb::object metric)
        : memories(memories), metric(metric), k(nb::cast<Index>(limits.attr("n_neighbors"))),
          total(nb::cast<Index>(limits.attr("total"))), long_limit(nb::cast<Index>(limits.attr("long"))),
          smallest(nb::cast<Index>(limits.attr("smallest"))) {
        require(n_features == long_X.size(0) && n_features == before_X.size(0), "features");
        require(short_labels.size() == capacity && short_arrivals.size() == capacity && hits.size(1) == capacity &&
                    window_hits.size(1) == capacity && short_extras.size(2) == capacity && capacity > total + 1,
                "short-term rows");
        require(long_labels.size() == long_capacity && long_arrivals.size() == long_capacity &&
                    long_sizes.size() == long_capacity && long_extras.size(2) == long_capacity && long_capacity > total,
                "long-term rows");
        require(hits.size(0) == N_PLAIN && hit_counts.size() == N_PLAIN && counters.size() == N_COUNTERS, "counters");
        require(window_starts.size() == n_windows && window_counts.size() == n_windows &&
                    n_windows >= count_windows(total + 1),
                "windows");
        require(before_labels.size() == before_X.size(1) && before_arrivals.size() == before_X.size(1), "before");
        require(resets.size(0) > 0 && resets.size(1) == 3 && short_extras.size(0) == long_extras.size(0), "resets");
        for (Index label : {START, STOP}) require(counters[label] <= capacity, "counters");
        require(counters[START] <= counters[STOP] && counters[N_LONG] <= long_capacity, "counters");
        if (!learns) return;
        const std::array<Index, 3> by_feature{3, n_features, 1 + N_BINS}, by_class{3, n_classes, n_features};
        require(short_extras.shape == std::array{Index(N_GROUPS), n_features, capacity}, "extras");
        require(long_extras.shape == std::array{Index(N_GROUPS), n_features, long_capacity}, "extras");
        require(center.size() == n_features && scale.size() == n_features && features.shape == by_feature, "metric");
        require(edges.shape == std::array{n_features, N_EDGES} && slopes.shape == std::array{n_features, N_BINS}, "bins");
        require(class_weights.shape == std::array{n_classes, n_features} && classes.shape == by_class, "classes");
        require(moments.shape == std::array{Index(3), n_features} && age.size() == 3 && typical.size() == 1, "moments");
        require(vote_weights.size() == N_VOTES && vote_hits.size() == N_VOTES + 1 && schedule.size() == 4, "votes");
        age_table.resize(capacity + 1);
        for (Index i = 0; i <= capacity; ++i) age_table[i] = squared_age(double(i));
    }

    // Probabilities of the classes: X (n_rows, n_features), out (n_rows, n_classes).
    void predict(ConstFloats2 X, Floats2 out) {
        require(X.size(1) == n_features && out.size(0) == X.size(0) && out.size(1) == n_classes, "rows");
        for (Index row = 0; row < X.size(0); ++row) predict_row(&X(row, 0), out[row].data);
    }

    // Learn rows one after the other, and compute the probabilities of each before it is learned, if `out` has rows;
    // `errors` are set where the largest one is not that of the label, or no class was known.
    void learn(ConstFloats2 X, ConstIndices labels, Floats2 out, Flags errors) {
        require(X.size(1) == n_features && labels.size() == X.size(0) && out.size(1) == n_classes, "rows");
        require(errors.size() == X.size(0), "errors");
        require(out.size(0) == 0 || out.size(0) == X.size(0), "rows");
        // Features are new.
        if (learns && schedule[NEXT_REFRESH] == 0) refresh();
        for (Index row = 0; row < X.size(0); ++row) {
            make_room();
            double *found = out.size(0) ? out[row].data : unused.data();
            predict_row(&X(row, 0), found);
            errors[row] = !known[labels[row]] || std::max_element(found, found + n_classes) - found != labels[row];
            learn_row(&X(row, 0), labels[row], found);
        }
    }

    // The vote that decides about a row: the columns of its neighbors, ~column for long-term rows, their shares of the
    // vote, and what their age adds to the squared distances: (max(k, 50),). Returns the memory (NEWEST for the newest
    // rows), the number of the vote, 0 and 1 by plain distances, and the number of neighbors.
    std::tuple<Index, Index, Index> explain(ConstFloats x, Indices columns, Floats shares, Floats ages) {
        require(x.size() == n_features && columns.size() >= std::max(k, N_WIDE), "row");
        require(shares.size() == columns.size() && ages.size() == columns.size(), "neighbors");
        predict_row(x.data, unused.data());
        const Index number = learns ? best_vote() : SAM_VOTE, sam = deciding_vote();
        const Vote vote = VOTES[number];
        const Nearest &found = number == SAM_VOTE ? plain[sam] : searched[vote.search];
        const Index n = number == SAM_VOTE ? found.n : std::min(found.n, vote.n_neighbors);
        if (number == SAM_VOTE) weigh(found);
        double sum = 0.0;
        for (Index i = 0; i < n; ++i) {
            const Index column = found.columns[i];
            columns[i] = column;
            shares[i] = number == SAM_VOTE ? weights[i] : support(found, i, guard_of(vote.search), vote.power);
            sum += shares[i];
            ages[i] = column < 0 ? squared_age(double(counters[N_SEEN]) - long_arrivals[~column])
                                 : squared_age(double(counters[STOP] - column));
            ages[i] *= vote.search == AGED || vote.search == RECENT ? age_weight() : 0.0;
        }
        for (Index i = 0; i < n; ++i) shares[i] /= sum;
        return {number == SAM_VOTE ? sam : vote.search == RECENT ? NEWEST : COMBINED, number, n};
    }

    // Transform rows to the axes of the learned metric: X, out (n_rows, n_features).
    void transform(ConstFloats2 X, Floats2 out) {
        require(learns && X.size(1) == n_features && out.shape == X.shape, "rows");
        for (Index row = 0; row < X.size(0); ++row) transform_row(&X(row, 0), out[row].data);
    }

private:
    template <class A>
    A of(const nb::object &arrays, const char *name) {
        return arrays.is_none() ? A{} : nb::cast<A>(arrays.attr(name));
    }

    nb::object memories, metric;
    Index k, total, long_limit, smallest;
    bool learns = !metric.is_none();

    Indices counters = of<Indices>(memories, "counters");
    Floats2 short_X = of<Floats2>(memories, "short_X"), long_X = of<Floats2>(memories, "long_X");
    Indices short_labels = of<Indices>(memories, "short_labels"), long_labels = of<Indices>(memories, "long_labels");
    Indices short_arrivals = of<Indices>(memories, "short_arrivals");
    Floats long_arrivals = of<Floats>(memories, "long_arrivals"), long_sizes = of<Floats>(memories, "long_sizes");
    Floats3 short_extras = of<Floats3>(memories, "short_extras"), long_extras = of<Floats3>(memories, "long_extras");
    Flags2 hits = of<Flags2>(memories, "hits"), window_hits = of<Flags2>(memories, "window_hits");
    Indices hit_counts = of<Indices>(memories, "hit_counts"), window_starts = of<Indices>(memories, "window_starts");
    Indices window_counts = of<Indices>(memories, "window_counts"), before_labels = of<Indices>(memories, "before_labels");
    Flags known = of<Flags>(memories, "known");
    Floats2 before_X = of<Floats2>(memories, "before_X");
    Indices before_arrivals = of<Indices>(memories, "before_arrivals");
    Indices2 resets = of<Indices2>(memories, "resets");

    Floats2 moments = of<Floats2>(metric, "moments"), edges = of<Floats2>(metric, "edges");
    Floats center = of<Floats>(metric, "center"), scale = of<Floats>(metric, "scale");
    Floats2 slopes = of<Floats2>(metric, "slopes"), class_weights = of<Floats2>(metric, "class_weights");
    Floats3 features = of<Floats3>(metric, "features"), classes = of<Floats3>(metric, "classes");
    Floats age = of<Floats>(metric, "age"), typical = of<Floats>(metric, "typical");
    Floats vote_weights = of<Floats>(metric, "vote_weights"), vote_hits = of<Floats>(metric, "vote_hits");
    Indices schedule = of<Indices>(metric, "schedule");

    Index n_features = short_X.size(0), capacity = short_X.size(1), long_capacity = long_X.size(1);
    Index n_classes = known.size(), n_windows = window_starts.size();

    // What is computed about one row before it is learned: plain distances by column, and the neighbors of the votes of
    // SAMKNN; transformed values, distances under the learned metric without and with the age, and neighbors by search.
    std::vector<double> short_distances = zeros(capacity), long_distances = zeros(long_capacity);
    Nearest plain[N_PLAIN] = {Nearest(k), Nearest(k), Nearest(k)};
    Nearest scratch{k};
    std::vector<Index> predicted = std::vector<Index>(N_PLAIN), window_predicted = std::vector<Index>(n_windows);
    std::vector<double> weights = zeros(k), supports = zeros(n_classes), accuracies = zeros(n_windows);
    std::vector<double> unused = zeros(n_classes), stored = zeros(n_features);
    std::vector<double> axes = zeros(n_features), age_table;
    std::vector<double> timeless = zeros(learns ? capacity : 0), long_timeless = zeros(learns ? long_capacity : 0);
    std::vector<double> aged = zeros(learns ? capacity : 0);
    Nearest searched[N_SEARCHES] = {Nearest(N_FEW), Nearest(N_WIDE), Nearest(N_WIDE), Nearest(N_WIDE)};
    std::vector<double> votes = zeros(N_VOTES * n_classes);
    std::vector<double> guarded = zeros(N_WIDE), loss_slopes = zeros(N_WIDE);
    std::vector<Index> loss_labels = std::vector<Index>(N_WIDE);
    // Gradients of features and classes, and of u of one stored row; standardized values and bins of the row.
    std::vector<double> feature_gradients = zeros(features.size() / 3), class_gradients = zeros(classes.size() / 3);
    std::vector<double> point_gradients = zeros(n_features), here = zeros(n_features), ratios = zeros(classes.size() / 3);

    static std::vector<double> zeros(Index n) { return std::vector<double>(n); }

    Index label_of(Index column) const { return column < 0 ? long_labels[~column] : short_labels[column]; }
    Index oldest_recent() const { return std::max(counters[STOP] - total, Index(0)); }

    // ---- The vote of SAMKNN

    // Find the neighbors of a row in each memory, and what they and those in each window predict.
    //
    // One pass from the newest to the oldest short-term row has the neighbors in every candidate window: those of the
    // window that ends with the row itself, as if it had been learned.
    void search_plain(const double *x) {
        const Index stop = counters[STOP], n_long = counters[N_LONG], n_rows = stop - counters[START] + 1;
        const bool gaps = counters[HAS_GAPS] || has_gap(x, n_features);
        squared_distances(short_X, counters[START], stop, x, gaps, short_distances.data());
        squared_distances(long_X, 0, n_long, x, gaps, long_distances.data());
        for (Nearest &found : plain) found.n = 0;
        Index high = stop;
        for (Index window = count_windows(n_rows) - 1; window >= 0; --window) {
            const Index low = stop + 1 - (n_rows >> window);
            extend(short_distances.data(), low, high, plain[SHORT]);
            window_predicted[window] = class_of(plain[SHORT]);
            high = low;
        }
        extend(long_distances.data(), 0, n_long, plain[LONG], true);
        combine();
        for (Index number = 0; number < N_PLAIN; ++number) predicted[number] = class_of(plain[number]);
    }

    // Merge the neighbors of both memories; at the same distance, short-term rows come first.
    void combine() {
        const Nearest &s = plain[SHORT], &l = plain[LONG];
        Nearest &both = plain[COMBINED];
        for (Index i = 0, j = 0; both.n < k && (i < s.n || j < l.n); ++both.n) {
            const bool is_short = i < s.n && (j == l.n || s.lengths[i] <= l.lengths[j]);
            both.columns[both.n] = is_short ? s.columns[i] : l.columns[j];
            both.lengths[both.n] = is_short ? s.lengths[i++] : l.lengths[j++];
        }
    }

    // Weights 1/d of neighbors, relative to the farthest. Distances below 1e-9 of the farthest count as that much: no
    // weight overflows, in whatever unit.
    void weigh(const Nearest &found) {
        const double farthest = found.n ? std::sqrt(found.lengths[found.n - 1]) : 0.0;
        for (Index i = 0; i < found.n; ++i)
            weights[i] = farthest == 0.0 ? 1.0
                                         : farthest / std::max(std::sqrt(found.lengths[i]), farthest / LARGEST_RATIO);
    }

    // The class with the largest weight among neighbors, the lower one on a tie; -1 for none.
    Index class_of(const Nearest &found) {
        weigh(found);
        for (Index i = 0; i < found.n; ++i) supports[label_of(found.columns[i])] += weights[i];
        Index best = -1;
        double largest = 0.0;
        for (Index i = 0; i < found.n; ++i) {
            const Index label = label_of(found.columns[i]);
            if (supports[label] > largest || (supports[label] == largest && label < best)) {
                best = label;
                largest = supports[label];
            }
        }
        for (Index i = 0; i < found.n; ++i) supports[label_of(found.columns[i])] = 0.0;
        return best;
    }

    // The vote with the most recent hits; that of the short-term rows if few others are there.
    Index deciding_vote() const {
        if (counters[N_LONG] < k) return SHORT;
        return std::max_element(hit_counts.begin(), hit_counts.end()) - hit_counts.begin();
    }

    void plain_probabilities(const Nearest &found, double *out) {
        weigh(found);
        std::fill(out, out + n_classes, 0.0);
        for (Index i = 0; i < found.n; ++i) out[label_of(found.columns[i])] += weights[i];
        normalize(out, found.n ? std::accumulate(out, out + n_classes, 0.0) : 0.0);
    }

    // From the support of the classes to their probabilities, which are 0 for unknown classes only.
    void normalize(double *out, double sum) const {
        const double n_known = std::accumulate(known.begin(), known.end(), 0.0);
        for (Index label = 0; label < n_classes; ++label) {
            if (n_known == 0.0) out[label] = 1.0 / double(n_classes);
            else if (!known[label]) out[label] = 0.0;
            else if (sum == 0.0) out[label] = 1.0 / n_known;
            else out[label] = (out[label] / sum + FLOOR / n_known) / (1.0 + FLOOR);
        }
    }

    void predict_row(const double *x, double *out) {
        search_plain(x);
        if (!learns) return plain_probabilities(plain[deciding_vote()], out);
        search_learned(x);
        plain_probabilities(plain[deciding_vote()], votes.data());
        for (Index number = 1; number < N_VOTES; ++number) vote_probabilities(VOTES[number], &votes[number * n_classes]);
        const double *best = &votes[best_vote() * n_classes], share = sam_leads() ? 1.0 : BEST_SHARE;
        for (Index label = 0; label < n_classes; ++label) {
            double mean = 0.0;
            for (Index number = 0; number < N_VOTES; ++number) mean += vote_weights[number] * votes[number * n_classes + label];
            out[label] = (1.0 - share) * mean + share * best[label];
        }
    }

    // ---- Candidate windows

    // Number of candidate windows; at least 1.
    Index count_windows(Index n_rows) const {
        Index n = 1;
        while (n_rows >> n >= smallest) ++n;
        return n;
    }

    // Predict every row of a window by the rows before it, and set its record.
    void replay_window(Index window, Index low) {
        Index count = 0;
        for (Index column = low + k; column < counters[STOP]; ++column) {
            measure_stored(low, column, column);
            scratch.n = 0;
            extend(short_distances.data(), low, column, scratch);
            const bool hit = class_of(scratch) == short_labels[column];
            window_hits(window, column) = hit;
            count += hit;
        }
        window_starts[window] = low;
        window_counts[window] = count;
    }

    // Squared distances of a short-term row to others, instead of those of the row that is learned.
    void measure_stored(Index start, Index stop, Index column) {
        for (Index f = 0; f < n_features; ++f) stored[f] = short_X(f, column);
        squared_distances(short_X, start, stop, stored.data(), counters[HAS_GAPS], short_distances.data());
    }

    // Bring the record of every window up to the newest row, whose hits are set already.
    void update_windows() {
        const Index stop = counters[STOP], n_rows = stop - counters[START], n_used = count_windows(n_rows);
        for (Index window = 0; window < n_windows; ++window) {
            const Index low = stop - (n_rows >> window);
            Index &start = window_starts[window];
            if (window >= n_used) {
                start = -1;
            } else if (start < 0 || low > start + 1) {
                replay_window(window, low);
            } else {
                if (low == start + 1) window_counts[window] -= window_hits(window, low + k - 1);
                start = low;
                if (stop - 1 >= low + k) window_counts[window] += window_hits(window, stop - 1);
            }
        }
    }

    // The most accurate window, in rounded ten thousandths: the largest of those within rounding.
    Index best_window() {
        const Index n_used = count_windows(counters[STOP] - counters[START]);
        for (Index window = 0; window < n_used; ++window) {
            const Index n_predicted = counters[STOP] - window_starts[window] - k;
            const double share = n_predicted > 0 ? double(window_counts[window]) / double(n_predicted) : 0.0;
            accuracies[window] = std::rint(share * 1e4);
        }
        return std::max_element(accuracies.begin(), accuracies.begin() + n_used) - accuracies.begin();
    }

    // The window that becomes the short-term memory; records in favor of fewer rows are checked.
    Index choose_window() {
        const Index best = best_window();
        if (best == 0) return 0;
        for (Index window = 1; window < count_windows(counters[STOP] - counters[START]); ++window)
            if (accuracies[window] > accuracies[0]) replay_window(window, window_starts[window]);
        return best_window();
    }

    // ---- Sizes of the memories

    // Move the newest rows to the first columns if there is no column for another row.
    void make_room() {
        const Index stop = counters[STOP], first = learns ? std::min(oldest_recent(), counters[START]) : counters[START];
        if (stop < capacity) return;
        const auto move = [&](auto array) {
            for (auto *row = array.begin(); row != array.end(); row += capacity) std::copy(row + first, row + stop, row);
        };
        move(short_X), move(short_labels), move(short_arrivals), move(short_extras), move(hits), move(window_hits);
        for (Index &start : window_starts) start = start < 0 ? start : start - first;
        counters[START] -= first;
        counters[STOP] -= first;
    }

    void append_long(Index column) {
        const Index last = counters[N_LONG]++;
        copy_column(long_X, last, short_X, column);
        copy_column(long_extras, last, short_extras, column);
        copy_column(long_labels, last, short_labels, column);
        copy_column(long_arrivals, last, short_arrivals, column);
        long_sizes[last] = 1.0;
    }

    // Remove long-term rows; the others keep their order.
    void remove_long(const std::vector<char> &removed) {
        Index kept = 0;
        for (Index column = 0; column < counters[N_LONG]; ++column) {
            if (removed[column]) continue;
            const auto move = [&](auto array) { copy_column(array, kept, array, column); };
            if (kept < column) move(long_X), move(long_extras), move(long_labels), move(long_arrivals), move(long_sizes);
            ++kept;
        }
        counters[N_LONG] = kept;
    }

    // Largest squared distance to a short-term neighbor with the label; -1 if there is none.
    double same_class_radius(Index label, const Nearest &found) const {
        double radius = -1.0;
        for (Index i = 0; i < found.n; ++i)
            if (label_of(found.columns[i]) == label) radius = std::max(radius, found.lengths[i]);
        return radius;
    }

    // Remove the nearest long-term rows that have another label and are within the radius of the newest row.
    void clean_long(Index label, double radius) {
        std::vector<char> removed;
        for (Index i = 0; i < plain[LONG].n; ++i) {
            const Index column = plain[LONG].columns[i];
            if (plain[LONG].lengths[i] > radius || label_of(column) == label) continue;
            removed.resize(counters[N_LONG]);
            removed[~column] = true;
        }
        if (!removed.empty()) remove_long(removed);
    }

    // Which short-term rows before the column `low` are removed by the rows from `low` on, by column.
    //
    // Each of these rows, oldest first, removes among the k nearest that are left those that have another label and are
    // not farther than its own farthest same-class neighbor among its k nearest from `low` on.
    std::vector<char> contradicted(Index low) {
        const Index start = counters[START], stop = counters[STOP];
        std::vector<char> removed(stop);
        if (stop - low <= k) return removed;
        for (Index column = low; column < stop; ++column) {
            measure_stored(start, stop, column);
            scratch.n = 0;
            extend(short_distances.data(), column + 1, stop, scratch);
            extend(short_distances.data(), low, column, scratch);
            const double radius = same_class_radius(short_labels[column], scratch);
            if (radius < 0.0) continue;
            scratch.n = 0;
            for (Index other = low - 1; other >= start; --other)
                if (short_distances[other] <= scratch.limit() && !removed[other])
                    scratch.insert(other, short_distances[other]);
            for (Index i = 0; i < scratch.n; ++i) {
                const Index other = scratch.columns[i];
                if (scratch.lengths[i] <= radius && short_labels[other] != short_labels[column]) removed[other] = true;
            }
        }
        return removed;
    }

    // Remove the oldest short-term rows, and the hits of the votes about them.
    void forget_short(Index n_rows) {
        const Index start = counters[START];
        for (Index number = 0; number < N_PLAIN; ++number)
            for (Index column = start; column < start + n_rows; ++column) hit_counts[number] -= hits(number, column);
        counters[START] += n_rows;
    }

    // Compress the long-term memory if both are full; return whether something has changed. Unless it is beyond its
    // limit, it first takes over this number of the oldest short-term rows.
    bool limit_sizes() {
        const auto surplus = [&] { return counters[STOP] - counters[START] + counters[N_LONG] - total; };
        if (surplus() <= 0) return false;
        if (counters[N_LONG] <= long_limit) {
            const Index n_moved = long_limit - counters[N_LONG] + 1;
            for (Index i = 0; i < n_moved; ++i) append_long(counters[START] + i);
            forget_short(n_moved);
            std::fill(window_starts.begin(), window_starts.end(), -1);
        }
        compress();
        // With as many classes as rows, compression removes none.
        if (surplus() > 0) {
            std::vector<Index> order(counters[N_LONG]);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(),
                             [&](Index i, Index j) { return long_arrivals[i] < long_arrivals[j]; });
            std::vector<char> removed(counters[N_LONG]);
            for (Index i = 0; i < surplus(); ++i) removed[order[i]] = true;
            remove_long(removed);
        }
        return true;
    }

    // Replace the long-term rows of each class by half as many means of rows near each other.
    void compress() {
        const Index n_rows = counters[N_LONG], n_extras = long_extras.size(0) * n_features;
        Random random{std::uint64_t(counters[SEED]) * 0x2545F4914F6CDD1Du + std::uint64_t(counters[N_COMPRESSIONS]++)};
        const std::vector<double> X(long_X.begin(), long_X.end()), extras(long_extras.begin(), long_extras.end());
        const std::vector<double> arrivals(long_arrivals.begin(), long_arrivals.end());
        const std::vector<double> sizes(long_sizes.begin(), long_sizes.end());
        const std::vector<Index> labels(long_labels.begin(), long_labels.end());
        counters[N_LONG] = 0;
        for (Index label = 0; label < n_classes; ++label) {
            std::vector<Index> rows;
            for (Index row = 0; row < n_rows; ++row)
                if (labels[row] == label) rows.push_back(row);
            if (rows.empty()) continue;
            const Index n_own = rows.size(), n_centers = std::max(n_own / 2, Index(1));
            std::vector<double> own(n_features * n_own), centers(n_features * n_centers);
            std::vector<Index> members(n_own);
            for (Index f = 0; f < n_features; ++f)
                for (Index i = 0; i < n_own; ++i) own[f * n_own + i] = X[f * long_capacity + rows[i]];
            const Floats2 means{centers.data(), {n_features, n_centers}};
            KMeans clusters({own.data(), {n_features, n_own}}, counters[HAS_GAPS], means, {members.data(), {n_own}});
            clusters.run(random);
            const Index first = counters[N_LONG];
            for (Index i = 0; i < n_centers; ++i) {
                const Index column = first + i;
                copy_column(long_X, column, means, i);
                long_labels[column] = label;
                long_sizes[column] = long_arrivals[column] = 0.0;
                for (Index e = 0; e < n_extras; ++e) long_extras.data[e * long_capacity + column] = 0.0;
            }
            // The size, mean arrival and mean extras of the rows that each stands for.
            for (Index i = 0; i < n_own; ++i) {
                const Index column = first + members[i], row = rows[i];
                long_sizes[column] += sizes[row];
                long_arrivals[column] += sizes[row] * arrivals[row];
                for (Index e = 0; e < n_extras; ++e)
                    long_extras.data[e * long_capacity + column] += sizes[row] * extras[e * long_capacity + row];
            }
            for (Index column = first; column < first + n_centers; ++column) {
                long_arrivals[column] /= long_sizes[column];
                for (Index e = 0; e < n_extras; ++e) long_extras.data[e * long_capacity + column] /= long_sizes[column];
            }
            counters[N_LONG] += n_centers;
        }
    }

    // Make a candidate window the short-term memory; older rows go to the long-term memory, cleaned.
    void shrink(Index best) {
        const Index start = counters[START], stop = counters[STOP], low = window_starts[best];
        // Some of the rows that are removed are kept for explanations: evenly spaced, with the newest of them.
        const Index n_kept = counters[N_BEFORE] = std::min(low - start, before_X.size(1));
        for (Index i = 0; i < n_kept; ++i) {
            const Index column = start + ((i + 1) * (low - start)) / n_kept - 1;
            copy_column(before_X, i, short_X, column);
            copy_column(before_labels, i, short_labels, column);
            copy_column(before_arrivals, i, short_arrivals, column);
        }
        const std::vector<char> removed = contradicted(low);
        for (Index column = start; column < low; ++column)
            if (!removed[column]) append_long(column);
        forget_short(low - start);
        for (Index window = 0; window < n_windows; ++window) {
            const Index other = window + best;
            window_starts[window] = other < n_windows ? window_starts[other] : -1;
            if (other >= n_windows) continue;
            window_counts[window] = window_counts[other];
            std::copy(&window_hits(other, low), window_hits[other].data + stop, &window_hits(window, low));
        }
        auto reset = resets[counters[N_RESETS]++ % resets.size(0)];
        reset[0] = counters[N_SEEN] - 1;
        reset[1] = stop - start;
        reset[2] = stop - low;
    }

    // ---- Learn a row that was predicted

    void learn_row(const double *x, Index label, const double *probabilities) {
        if (learns) {
            record(probabilities, label);
            update_typical();
            learn_metric(x, label);
            for (Index f = 0; f < n_features; ++f) {
                short_extras(AXES, f, counters[STOP]) = axes[f];
                short_extras(POINTS, f, counters[STOP]) = 0.0;
                short_extras(WEIGHTS, f, counters[STOP]) = class_weights(label, f);
            }
        }
        append_short(x, label);
        if (limit_sizes()) search_again(x);
        if (counters[STOP] - counters[START] > k) clean_long(label, same_class_radius(label, plain[SHORT]));
        update_windows();
        const Index best = choose_window();
        if (best > 0) shrink(best);
        if (learns) {
            update_moments(x);
            refresh();
        }
    }

    void append_short(const double *x, Index label) {
        const Index column = counters[STOP]++;
        for (Index f = 0; f < n_features; ++f) short_X(f, column) = x[f];
        short_labels[column] = label;
        short_arrivals[column] = counters[N_SEEN]++;
        known[label] = 1;
        if (has_gap(x, n_features)) counters[HAS_GAPS] = 1;
        for (Index number = 0; number < N_PLAIN; ++number) {
            // A long-term memory that cannot decide has no hits.
            const bool hit = predicted[number] == label && !(number == LONG && counters[N_LONG] < k);
            hits(number, column) = hit;
            hit_counts[number] += hit;
        }
        const Index n_used = count_windows(counters[STOP] - counters[START]);
        for (Index window = 0; window < n_windows; ++window)
            window_hits(window, column) = window < n_used && window_predicted[window] == label;
    }

    // Find the neighbors of the newest row in each memory, after their sizes were limited.
    void search_again(const double *x) {
        squared_distances(long_X, 0, counters[N_LONG], x, counters[HAS_GAPS], long_distances.data());
        plain[LONG].n = plain[SHORT].n = 0;
        extend(long_distances.data(), 0, counters[N_LONG], plain[LONG], true);
        extend(short_distances.data(), counters[START], counters[STOP] - 1, plain[SHORT]);
    }

    // ---- Votes under the learned metric

    // Squared position of an age on its axis: logarithmic, 1 for the age of the largest window.
    double squared_age(double rows) const {
        const double position = std::log(1.0 + rows) / std::log(1.0 + double(total));
        return position * position;
    }

    // Weight of the age axis: in units of the typical squared distance.
    double age_weight() const { return typical[0] * std::exp(2.0 * age[VALUE]); }

    // Find the neighbors of a row by every search, after `search_plain`.
    void search_learned(const double *x) {
        const Index start = counters[START], stop = counters[STOP], n_long = counters[N_LONG], oldest = oldest_recent();
        const bool gaps = counters[HAS_GAPS] || has_gap(x, n_features);
        transform_row(x, axes.data());
        weighted_distances(short_extras, oldest, stop, axes.data(), gaps, timeless.data());
        weighted_distances(long_extras, 0, n_long, axes.data(), gaps, long_timeless.data());
        // The newest rows are in order.
        Wide<add_ages>::run(&timeless[oldest], age_table.data(), stop - oldest, age_weight(), stop - oldest, &aged[oldest]);
        for (Nearest &found : searched) found.n = 0;
        extend(timeless.data(), start, stop, searched[TIMELESS]);
        extend(long_timeless.data(), 0, n_long, searched[TIMELESS], true);
        extend(short_distances.data(), start, stop, searched[PLAIN]);
        extend(long_distances.data(), 0, n_long, searched[PLAIN], true);
        extend(aged.data(), start, stop, searched[RECENT]);
        searched[AGED] = searched[RECENT];
        extend(aged.data(), oldest, start, searched[RECENT]);
        // The age adds to the distance: that of few rows is needed.
        Nearest &found = searched[AGED];
        visit_near(
            long_timeless.data(), 0, n_long, [&] { return found.limit(); },
            [&](Index column) {
                const double rows = double(counters[N_SEEN]) - long_arrivals[column];
                const double length = long_timeless[column] + age_weight() * squared_age(rows);
                if (length <= found.limit()) found.insert(~column, length);
            });
    }

    // What is added to every squared distance of a search.
    double guard_of(Search search) const {
        if (search != PLAIN) return GUARD * typical[0];
        const double farthest = searched[PLAIN].lengths[searched[PLAIN].n - 1];
        return farthest > 0.0 ? GUARD * farthest : 1.0;
    }

    // Support of a neighbor, relative to the nearest.
    static double support(const Nearest &found, Index i, double guard, double power) {
        const double ratio = (found.lengths[0] + guard) / (found.lengths[i] + guard);
        return power == 2.0 ? ratio * ratio : power == 0.5 ? std::sqrt(ratio) : ratio;
    }

    void vote_probabilities(const Vote &vote, double *out) const {
        const Nearest &found = searched[vote.search];
        std::fill(out, out + n_classes, 0.0);
        double sum = 0.0;
        const double guard = found.n ? guard_of(vote.search) : 0.0;
        for (Index i = 0; i < std::min(found.n, vote.n_neighbors); ++i) {
            const double own = support(found, i, guard, vote.power);
            out[label_of(found.columns[i])] += own;
            sum += own;
        }
        normalize(out, sum);
    }

    // Whether the vote of SAMKNN was clearly more often right than the mixture of late.
    bool sam_leads() const { return vote_hits[SAM_VOTE] > vote_hits[N_VOTES] + CLEAR_LEAD; }

    // The vote with the most recent hits, the first of those that are equal. That of SAMKNN decides where it is clearly
    // better than the mixture, and not only than each other vote.
    Index best_vote() const {
        return sam_leads() ? SAM_VOTE : std::max_element(vote_hits.begin(), vote_hits.end() - 1) - vote_hits.begin();
    }

    // Update the record of the votes by the label of a row that was predicted.
    void record(const double *mixture, Index label) {
        double sum = 0.0;
        for (Index number = 0; number <= N_VOTES; ++number) {
            const double *out = number < N_VOTES ? &votes[number * n_classes] : mixture;
            const double hit = std::max_element(out, out + n_classes) - out == label;
            vote_hits[number] = RECORD_DECAY * vote_hits[number] + (1.0 - RECORD_DECAY) * hit;
            if (number == N_VOTES) break;
            vote_weights[number] *= std::sqrt(std::max(out[label], SMALLEST_PROBABILITY));
            sum += vote_weights[number];
        }
        for (double &weight : vote_weights) weight = (1.0 - MIX_SHARE) * weight / sum + MIX_SHARE / N_VOTES;
    }

    // Update the typical squared distance by that to the farthest of a few neighbors.
    void update_typical() {
        const Nearest &found = searched[TIMELESS];
        if (found.n == 0 || !(found.lengths[found.n - 1] < FARTHEST)) return;
        const double rate = std::max(TYPICAL_RATE, 1.0 / (1.0 + double(counters[N_SEEN])));
        typical[0] += rate * (std::max(found.lengths[found.n - 1], 1e-12) - typical[0]);
    }

    // ---- The learned metric

    // A standardized value; NaN stays NaN. As long as all values are equal, another one is one standard deviation away
    // from them, in any unit.
    double standardize(Index f, double value) const {
        const double difference = value - center[f];
        if (scale[f] < infinity) return clamp_value(difference / scale[f]);
        if (std::abs(difference) > LEAST_VARIATION * std::abs(center[f])) return difference > 0.0 ? 1.0 : -1.0;
        return 0.0 * difference;
    }

    static double clamp_value(double value) {
        return value > LARGEST_VALUE ? LARGEST_VALUE : value < -LARGEST_VALUE ? -LARGEST_VALUE : value;
    }

    void transform_row(const double *x, double *out) const {
        for (Index f = 0; f < n_features; ++f) {
            const double value = standardize(f, x[f]);
            transform_column(&value, &out[f], 1, 0.0, 1.0, &edges(f, 0), &slopes(f, 0));
        }
    }

    // Transform the stored rows in the columns from `start` to `stop`, and scale their weights.
    void update_stored(Floats2 X, Floats3 extras, Indices labels, Index start, Index stop) const {
        for (Index f = 0; f < n_features && start < stop; ++f) {
            double *out = &extras(AXES, f, start);
            if (scale[f] < infinity) {
                Wide<transform_column>::run(&X(f, start), out, stop - start, center[f], scale[f], &edges(f, 0),
                                            &slopes(f, 0));
            } else {
                for (Index i = 0; i < stop - start; ++i) out[i] = standardize(f, X(f, start + i));
                Wide<transform_column>::run(out, out, stop - start, 0.0, 1.0, &edges(f, 0), &slopes(f, 0));
            }
            Wide<scale_column>::run(&extras(WEIGHTS, f, start), &labels[start], &ratios[f * n_classes], stop - start);
        }
    }

    // Update the running means and variances by a row; missing values do not count.
    void update_moments(const double *x) {
        static const double keep = std::pow(0.5, 1.0 / HALF_LIFE);
        for (Index f = 0; f < n_features; ++f) {
            if (x[f] != x[f]) continue;
            moments(WEIGHT, f) = keep * moments(WEIGHT, f) + 1.0;
            const double rate = 1.0 / moments(WEIGHT, f), step = x[f] - moments(MEAN, f);
            moments(MEAN, f) += rate * step;
            moments(VARIANCE, f) = (1.0 - rate) * (moments(VARIANCE, f) + rate * step * step);
        }
    }

    // Apply what was learned, if it is time: standardization, bins and weights; transform the stored rows.
    void refresh() {
        const Index seen = counters[N_SEEN], n_long = counters[N_LONG];
        const bool compressed = schedule[COMPRESSIONS] != counters[N_COMPRESSIONS];
        if (seen < schedule[NEXT_REFRESH] && !compressed) return;
        schedule[NEXT_REFRESH] = seen + std::min(REFRESH_INTERVAL, std::max(Index(1), seen / 10));
        schedule[COMPRESSIONS] = counters[N_COMPRESSIONS];
        for (Index f = 0; f < n_features; ++f) {
            const double mean = moments(MEAN, f), least = LEAST_VARIATION * mean;
            center[f] = mean;
            scale[f] = moments(VARIANCE, f) > least * least ? std::sqrt(moments(VARIANCE, f)) : infinity;
        }
        if (seen >= schedule[NEXT_BINS]) {
            schedule[NEXT_BINS] = seen + std::min(BIN_INTERVAL, std::max(Index(20), seen / 5));
            choose_bins();
        }
        for (Index f = 0; f < n_features; ++f) {
            for (Index i = 0; i < N_BINS; ++i) slopes(f, i) = std::exp(features(VALUE, f, 0) + features(VALUE, f, 1 + i));
            for (Index label = 0; label < n_classes; ++label) {
                const double weight = std::exp(classes(VALUE, label, f));
                ratios[f * n_classes + label] = weight / class_weights(label, f);
                class_weights(label, f) = weight;
            }
        }
        update_stored(short_X, short_extras, short_labels, oldest_recent(), counters[STOP]);
        update_stored(long_X, long_extras, long_labels, 0, n_long);
        // The weights of a mean of rows are those of the mean of their log weights.
        for (Index f = 0; f < n_features && compressed; ++f)
            for (Index column = 0; column < n_long; ++column)
                long_extras(WEIGHTS, f, column) =
                    class_weights(long_labels[column], f) * std::exp(long_extras(POINTS, f, column));
    }

    // Choose bins with equal numbers of stored rows, standardized.
    void choose_bins() {
        const Index n_long = counters[N_LONG], start = oldest_recent(), n_rows = counters[STOP] - start + n_long;
        const Index n_used = std::min(n_rows, BIN_ROWS);
        for (Index f = 0; f < n_features; ++f) {
            std::vector<double> values;
            for (Index i = 0; i < n_used; ++i) {
                const Index position = (i * n_rows) / n_used;
                const double value = position < n_long ? long_X(f, position) : short_X(f, start + position - n_long);
                if (value == value) values.push_back(standardize(f, value));
            }
            std::sort(values.begin(), values.end());
            for (Index i = 0; i < N_EDGES && !values.empty(); ++i)
                edges(f, i) = values[(i + 1) * values.size() / (N_EDGES + 1)];
        }
    }

    // Take a gradient step on the loss of a row among the neighbors that were found for it among the newest rows.
    void learn_metric(const double *x, Index label) {
        const Nearest &found = searched[RECENT];
        if (found.n < SMALLEST_VOTE) return;
        for (Index i = 0; i < found.n; ++i) {
            guarded[i] = found.lengths[i] + GUARD * typical[0];
            loss_labels[i] = short_labels[found.columns[i]];
        }
        share_loss(guarded.data(), loss_labels.data(), label, found.n, LOSS_POWER, LOSS_FLOOR, loss_slopes.data());
        std::fill(feature_gradients.begin(), feature_gradients.end(), 0.0);
        std::fill(class_gradients.begin(), class_gradients.end(), 0.0);
        for (Index f = 0; f < n_features; ++f) here[f] = standardize(f, x[f]);
        double age_gradient = 0.0;
        const double weight = age_weight();
        for (Index i = 0; i < found.n; ++i) {
            const Index column = found.columns[i];
            age_gradient += 2.0 * loss_slopes[i] * weight * age_table[counters[STOP] - column];
            add_gradients(x, column, loss_slopes[i]);
            step_point(column);
        }
        step_shared(age_gradient);
    }

    // How much a curve rises within one bin, between two standardized values.
    double rise(Index f, Index bin, double low, double high) const {
        if (bin > 0) low = std::max(low, edges(f, bin - 1));
        if (bin < N_EDGES) high = std::min(high, edges(f, bin));
        return slopes(f, bin) * std::max(high - low, 0.0);
    }

    // The bin of a standardized value: the number of edges below it.
    Index find_bin(Index f, double value) const {
        const double *own = &edges(f, 0);
        Index n = 0;
        for (Index i = 0; i < N_EDGES; ++i) n += value > own[i];
        return n;
    }

    // Add the gradients through the distance of one short-term row, without its age; `slope` is ∂loss/∂distance.
    void add_gradients(const double *x, Index column, double slope) {
        Index n_common = 0;
        for (Index f = 0; f < n_features; ++f) n_common += !std::isnan(x[f] - short_X(f, column));
        double *own_class = &class_gradients[short_labels[column] * n_features];
        for (Index f = 0; f < n_features; ++f) {
            point_gradients[f] = 0.0;
            if (std::isnan(x[f] - short_X(f, column))) continue;
            const double there = standardize(f, short_X(f, column));
            const double low = std::min(here[f], there), high = std::max(here[f], there);
            const Index first = find_bin(f, low), last = find_bin(f, high);
            double parts[N_BINS], difference = 0.0;  // of the curve's values
            for (Index bin = first; bin <= last; ++bin) difference += parts[bin] = rise(f, bin, low, high);
            // ∂loss/∂difference, of which each bin has its part of the difference.
            const double share = double(n_features) / double(n_common);
            const double factor = slope * short_extras(WEIGHTS, f, column) * difference * share;
            double *gradients = &feature_gradients[f * (1 + N_BINS)];
            for (Index bin = first; bin <= last; ++bin) gradients[1 + bin] += 2.0 * factor * parts[bin];
            gradients[0] += 2.0 * factor * difference;
            own_class[f] += factor * difference;
            point_gradients[f] = factor * difference;
        }
    }

    // Take a step on the point weights of a short-term row.
    void step_point(Index column) {
        for (Index f = 0; f < n_features; ++f) {
            double &value = short_extras(POINTS, f, column);
            const double step = clamp(-POINT_RATE * point_gradients[f], -LARGEST_POINT_STEP, LARGEST_POINT_STEP);
            const double after = clamp(value * (1.0 - POINT_DECAY) + step, -LARGEST_DEPARTURE, LARGEST_DEPARTURE);
            short_extras(WEIGHTS, f, column) *= std::exp(after - value);
            value = after;
        }
    }

    // Take a step of Adam on the curves, the class weights and the weight of the age.
    void step_shared(double age_gradient) {
        const double n_steps = double(++schedule[N_STEPS]), second = 1.0 - std::pow(DECAY_SECOND, n_steps);
        const double rate = RATE / (1.0 - std::pow(DECAY_FIRST, n_steps));
        const Index n_columns = 1 + N_BINS;
        const auto step = [&](auto array, double *gradients) {
            Wide<adam>::run(array[VALUE].data, array[FIRST].data, array[SECOND].data, gradients, array.size() / 3, rate,
                            second);
        };
        Floats2 values = features[VALUE];
        for (Index i = 0; i < values.size(); ++i)
            if (i % n_columns) feature_gradients[i] += PENALTY * values.data[i];
        step(features, feature_gradients.data());
        double sum = 0.0;
        for (Index f = 0; f < n_features; ++f) {
            for (Index i = 1; i < n_columns; ++i) values(f, i) = clamp(values(f, i), -LARGEST_DEPARTURE, LARGEST_DEPARTURE);
            values(f, 0) = clamp(values(f, 0), LOWEST, HIGHEST);
            sum += std::exp(2.0 * values(f, 0));
        }
        // The scale of all features together changes no vote: their mean weight is 1.
        for (Index f = 0; f < n_features; ++f) values(f, 0) -= 0.5 * std::log(sum / double(n_features));
        values = classes[VALUE];
        for (Index i = 0; i < values.size(); ++i) class_gradients[i] += PENALTY * values.data[i];
        step(classes, class_gradients.data());
        for (double &value : values) value = clamp(value, -LARGEST_DEPARTURE, LARGEST_DEPARTURE);
        Wide<adam>::run(&age[VALUE], &age[FIRST], &age[SECOND], &age_gradient, 1, rate, second);
        age[VALUE] = clamp(age[VALUE], LOWEST, HIGHEST);
    }
};

}  // namespace

void bind_streams(nb::module_ &m) {
    using Unlocked = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<Stream>(m, "Stream")
        .def(nb::init<nb::object, nb::object, nb::object>(), nb::arg("limits"), nb::arg("memories"), nb::arg("metric").none())
        .def("predict", &Stream::predict, Unlocked())
        .def("learn", &Stream::learn, Unlocked())
        .def("explain", &Stream::explain, Unlocked())
        .def("transform", &Stream::transform, Unlocked());
    def(m, "k_means", &k_means);
}

}  // namespace lann
