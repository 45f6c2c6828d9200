// Sorted lists of the nearest entries, and selections of the smallest. Equal distances are ordered by index.
#pragma once

#include "simd.hpp"

#include <limits>
#include <type_traits>
#include <utility>

namespace lann {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether an entry comes before another one; a negative index is an empty slot, behind all others.
LANN_INLINE bool before(double distance, Index index, double other_distance, Index other_index) {
    if (distance != other_distance) return distance < other_distance;
    return other_index < 0 || index < other_index;
}

// Insert an entry into a sorted list of k entries, dropping the last, unless it comes after all.
LANN_INLINE void insert(double *distances, Index *indices, Index k, double distance, Index index) {
    Index slot = k - 1;
    if (!before(distance, index, distances[slot], indices[slot])) return;
    for (; slot > 0 && before(distance, index, distances[slot - 1], indices[slot - 1]); --slot) {
        distances[slot] = distances[slot - 1];
        indices[slot] = indices[slot - 1];
    }
    distances[slot] = distance;
    indices[slot] = index;
}

// Number of filled entries of such a list, which are the first ones.
LANN_INLINE Index count_found(const Index *indices, Index k) {
    Index n_found = 0;
    while (n_found < k && indices[n_found] >= 0) ++n_found;
    return n_found;
}

// Rearrange both arrays so that values[nth] is that of the sorted array, with smaller ones before it.
template <class T, class I>
LANN_INLINE void partition(T *values, I *indices, Index size, Index nth) {
    Index low = 0, high = size - 1;
    while (low < high) {
        const T pivot = values[(low + high) / 2];
        Index left = low, right = high;
        while (left <= right) {
            while (values[left] < pivot) ++left;
            while (values[right] > pivot) --right;
            if (left > right) break;
            std::swap(values[left], values[right]);
            std::swap(indices[left++], indices[right--]);
        }
        if (nth <= right)
            high = right;
        else if (nth >= left)
            low = left;
        else
            return;
    }
}

// Integers in the order of floating-point numbers, between which a bisection takes at most as many steps as they have bits.
template <class T>
LANN_INLINE auto ordered(T value) {
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> bits;
    std::memcpy(&bits, &value, sizeof(T));
    return bits < 0 ? bits ^ std::numeric_limits<decltype(bits)>::max() : bits;
}

template <class T, class Bits>
LANN_INLINE T from_ordered(Bits bits) {
    if (bits < 0) bits ^= std::numeric_limits<Bits>::max();
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

// Lower `limit` so that at least `n` and few more of the values are below it; false if ties prevent this, or where fewer
// than n values are below it.
template <class T>
LANN_INLINE bool lower_limit(const T *values, Index size, Index n, T &limit) {
    const Index most = n + n / 4;
    T least = limit;
    for (Index i = 0; i < size; ++i) least = values[i] < least ? values[i] : least;
    auto low = ordered(least), high = ordered(limit);
    while (low < high) {
        const auto middle = (low & high) + ((low ^ high) >> 1);  // rounded down, without overflow
        if (middle == low) return false;
        const T value = from_ordered<T>(middle);
        std::int32_t count = 0;
        for (Index i = 0; i < size; ++i) count += values[i] < value;
        if (count < n) {
            low = middle;
        } else if (count > most) {
            high = middle;
        } else {
            limit = value;
            return true;
        }
    }
    return false;
}

// Cut a list of `size` entries, all of them below `limit`, to its `keep` smallest and few more; no other entry is below
// the new limit.
template <class T, class I>
LANN_INLINE Index cut(T *values, I *indices, Index size, Index keep, T &limit) {
    if (!lower_limit(values, size, keep, limit)) {
        partition(values, indices, size, keep - 1);
        limit = values[keep - 1];
        return keep;
    }
    Index count = 0;
    for (Index i = 0; i < size; ++i) {
        const T value = values[i];
        values[count] = value;
        indices[count] = indices[i];
        count += value < limit;
    }
    return count;
}

// Lists of up to this many entries are sorted by insertion.
constexpr Index few = 16;

// Rearrange both arrays so that the k smallest of the first `size` entries come first, in order: a quicksort that
// leaves out the parts behind the first k, and sorts short parts by insertion.
LANN_INLINE void sort_smallest(double *distances, Index *indices, Index size, Index k) {
    Index lows[64], highs[64], n_parts = 1;  // the shorter part comes first: log2(size)
    lows[0] = 0;
    highs[0] = size - 1;
    while (n_parts > 0) {
        Index low = lows[--n_parts], high = highs[n_parts];
        while (high - low >= few) {
            const Index middle = (low + high) / 2, pivot_index = indices[middle];
            const double pivot = distances[middle];
            Index left = low, right = high;
            while (left <= right) {
                while (before(distances[left], indices[left], pivot, pivot_index)) ++left;
                while (before(pivot, pivot_index, distances[right], indices[right])) --right;
                if (left > right) break;
                std::swap(distances[left], distances[right]);
                std::swap(indices[left++], indices[right--]);
            }
            if (left >= k) {  // the right part is not among the k smallest
                high = right;
            } else if (right - low < high - left) {
                lows[n_parts] = left;
                highs[n_parts++] = high;
                high = right;
            } else {
                lows[n_parts] = low;
                highs[n_parts++] = right;
                low = left;
            }
        }
        for (Index slot = low + 1; slot <= high; ++slot) {
            const double distance = distances[slot];
            const Index index = indices[slot];
            Index to = slot;
            for (; to > low && before(distance, index, distances[to - 1], indices[to - 1]); --to) {
                distances[to] = distances[to - 1];
                indices[to] = indices[to - 1];
            }
            distances[to] = distance;
            indices[to] = index;
        }
    }
}

}  // namespace lann
