// The Python module: one function per subject binds its kernels.
#include "simd.hpp"

#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lann {

Level level = Level::baseline;

#if defined(__x86_64__)
// The widest level of the processor whose registers the operating system saves. `__builtin_cpu_supports` needs a
// library that not every clang has.
static Level widest_level() {
    unsigned a, b, c, d, saved, rest;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return Level::baseline;
    __asm__("xgetbv" : "=a"(saved), "=d"(rest) : "c"(0));
    if ((saved & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return Level::baseline;
    const unsigned wide = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW;
    return (saved & 0xe6) == 0xe6 && (b & wide) == wide ? Level::avx512 : Level::avx2;
}
#endif

// The widest level, or the one that the environment variable LANN_SIMD names, if it is lower.
static void choose_level() {
#if defined(__x86_64__)
    level = widest_level();
    const char *name = std::getenv("LANN_SIMD");
    if (name && std::string(name) == "baseline") level = Level::baseline;
    if (name && std::string(name) == "avx2" && level == Level::avx512) level = Level::avx2;
#endif
}

static const char *simd_level() {
    const char *names[] = {"baseline", "avx2", "avx512"};
    return names[int(level)];
}

void bind_metric(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_training(nb::module_ &m);
void bind_streams(nb::module_ &m);
void bind_alarms(nb::module_ &m);
void bind_vote(nb::module_ &m);
void bind_lmnn(nb::module_ &m);
void bind_graph(nb::module_ &m);
void bind_explain(nb::module_ &m);

}  // namespace lann

NB_MODULE(_native, m) {
    lann::choose_level();
    m.def("simd_level", &lann::simd_level, "Return the instruction set that wide kernels use: LANN_SIMD can lower it.");
    lann::bind_metric(m);
    lann::bind_search(m);
    lann::bind_training(m);
    lann::bind_streams(m);
    lann::bind_alarms(m);
    lann::bind_vote(m);
    lann::bind_lmnn(m);
    lann::bind_graph(m);
    lann::bind_explain(m);
}
