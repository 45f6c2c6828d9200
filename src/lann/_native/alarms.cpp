// A sequential test of whether a classifier errs more often than before: `lann.streams.DriftDetector`.
//
// As long as nothing changes, the errors among the rows so far come in random order. List these rows with the errors
// first: the newest one, an error or not, is anywhere among its like, from a to b as shares of all. u is uniform, so that
// the mean of κ u^(κ−1) is 1: a fair bet, (b^κ − a^κ) / (b − a), that wins by errors, most where they were rare. Evidence
// for a rise is what bets have won that started at any earlier row (Shiryaev and Roberts): its mean after n rows is n.
#include "simd.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lann {
namespace {

constexpr double EXPONENTS[] = {0.3, 0.6, 0.9};
constexpr Index N_EXPONENTS = 3;
// The state, for each exponent: evidence for a rise and for a fall; what a bet on a rise has won since its last best
// start, this start, and the errors since. Then counts: rows, and rows and errors since the last restart.
enum { RISE, FALL, GAIN, ONSET, ERRORS_SINCE, COUNTS, N_STATES };
enum { N_ROWS, N_REFERENCE, N_ERRORS };

double bet(double a, double b, double exponent) { return (std::pow(b, exponent) - std::pow(a, exponent)) / (b - a); }

double mean(Floats values) { return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size()); }

// An alarm: its row, the row at which the rise began, and the shares of errors before and since.
using Alarm = std::tuple<double, double, double, double>;

Alarm describe(Floats2 state) {
    const Index best = std::max_element(state[RISE].begin(), state[RISE].end()) - state[RISE].begin();
    const double row = state(COUNTS, N_ROWS) - 1.0, onset = state(ONSET, best), errors = state(ERRORS_SINCE, best);
    const double n_since = row + 1.0 - onset, n_before = state(COUNTS, N_REFERENCE) - n_since;
    return {row, onset, (state(COUNTS, N_ERRORS) - errors) / n_before, errors / n_since};
}

// Go on with the test over further rows, and return the alarms. An alarm restarts the test, as does a fall.
//
// errors : (n_rows,); state : (N_STATES, N_EXPONENTS), 0 at first
std::vector<Alarm> find_alarms(ConstFlags errors, Floats2 state, double threshold) {
    require(state.size(0) == N_STATES && state.size(1) == N_EXPONENTS, "state");
    std::vector<Alarm> alarms;
    Floats counts = state[COUNTS];
    for (const bool is_error : errors) {
        // The reference starts with one error, so that a first error after many right predictions is not enough.
        const double n_rows = counts[N_REFERENCE] + 2.0, n_errors = counts[N_ERRORS] + 1.0;
        const double a = is_error ? 0.0 : n_errors / n_rows, b = is_error ? (n_errors + 1.0) / n_rows : 1.0;
        for (Index i = 0; i < N_EXPONENTS; ++i) {
            const double rise = bet(a, b, EXPONENTS[i]), fall = bet(1.0 - b, 1.0 - a, EXPONENTS[i]);
            state(RISE, i) = (1.0 + state(RISE, i)) * rise;
            state(FALL, i) = (1.0 + state(FALL, i)) * fall;
            if (state(GAIN, i) <= 1.0) {
                state(GAIN, i) = 1.0;
                state(ONSET, i) = counts[N_ROWS];
                state(ERRORS_SINCE, i) = 0.0;
            }
            state(GAIN, i) *= rise;
            state(ERRORS_SINCE, i) += is_error;
        }
        counts[N_ROWS] += 1.0;
        counts[N_REFERENCE] += 1.0;
        counts[N_ERRORS] += is_error;
        const bool is_alarm = mean(state[RISE]) >= threshold;
        if (is_alarm) alarms.push_back(describe(state));
        if (is_alarm || mean(state[FALL]) >= threshold) {
            std::fill(state.begin(), counts.begin(), 0.0);
            counts[N_REFERENCE] = counts[N_ERRORS] = 0.0;
        }
    }
    return alarms;
}

}  // namespace

void bind_alarms(nb::module_ &m) { def(m, "find_alarms", &find_alarms); }

}  // namespace lann
