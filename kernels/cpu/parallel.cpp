#include "kernels/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>

namespace kernels::cpu {

void set_threads(int n) { omp_set_num_threads(std::max(n, 1)); }

int threads() { return omp_get_max_threads(); }

namespace {
std::atomic<int> max_threads{std::numeric_limits<int>::max()};
}

int hardware_threads() { return std::min(omp_get_num_procs(), max_threads.load()); }

void limit_hardware_threads(int n) { max_threads = std::max(n, 1); }

#ifdef HALFTONE_SERIAL_KERNELS

void run_parallel(std::int64_t n, std::int64_t,
                  void (*call)(const void*, std::int64_t, std::int64_t), const void* context) {
    call(context, 0, n);
}

#else

void run_parallel(std::int64_t n, std::int64_t grain,
                  void (*call)(const void*, std::int64_t, std::int64_t), const void* context) {
    const std::int64_t most = n / std::max<std::int64_t>(grain, 1);
    const int wanted = static_cast<int>(std::min<std::int64_t>(most, threads()));
    if (wanted < 2) {
        call(context, 0, n);
        return;
    }
    // Ranges of long loops begin at multiples of 64 elements, so that no two threads write to one
    // cache line.
    const std::int64_t unit = grain >= 1024 ? 64 : 1;
    std::exception_ptr thrown;  // an exception must not leave the parallel region
#pragma omp parallel num_threads(wanted)
    {
        const std::int64_t team = omp_get_num_threads();
        const std::int64_t rank = omp_get_thread_num();
        const std::int64_t units = (n + unit - 1) / unit;
        const std::int64_t begin = std::min(n, units * rank / team * unit);
        const std::int64_t end = std::min(n, units * (rank + 1) / team * unit);
        try {
            if (begin < end) call(context, begin, end);
        } catch (...) {
#pragma omp critical
            thrown = std::current_exception();
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

#endif

}  // namespace kernels::cpu
