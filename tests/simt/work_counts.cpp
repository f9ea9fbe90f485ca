#include "simt/work_counts.h"

#include <utility>

#include "simt/simulation.h"

namespace kernels::simt {
namespace {

bool counting = false;
WorkCounts counts;

}  // namespace

void start_counting() {
    const Lock lock(simulation().mutex);
    counting = true;
    counts.clear();
}

WorkCounts stop_counting() {
    const Lock lock(simulation().mutex);
    counting = false;
    return std::exchange(counts, {});
}

void count_run(const char* name) {
    if (counting) ++counts[name].runs;
}

void count_bytes(const char* name, std::int64_t read, std::int64_t written) {
    if (!counting) return;
    counts[name].bytes_read += read;
    counts[name].bytes_written += written;
}

}  // namespace kernels::simt
