#pragma once

#include <cstdint>
#include <map>
#include <string>

/// Counts the work that the simulated device does: what a profiler would list, but its times.
namespace kernels::simt {

/// Work under one name: a kernel's, a library call's, "copy", "fill" or, for a recorded event,
/// "mark".
///
/// - Of a kernel the bytes are those that caches as large as the device would leave: a place of
///   device memory counts once in a launch, however many threads read or write it, and a read of
///   what the launch itself has written does not count. Places are two bytes. Without the race
///   detector's calls (HALFTONE_SIMT_WATCH) nothing is counted.
/// - Of a product or a convolution they are those of its operands and its result.
/// - Of attention and recurrent networks by the library they are not known: 0.
struct WorkCount {
    std::int64_t runs = 0;
    std::int64_t bytes_read = 0;
    std::int64_t bytes_written = 0;
};
using WorkCounts = std::map<std::string, WorkCount>;

/// Counts what runs from now on, also as part of a graph. Between tests, when nothing is queued.
void start_counting();
/// Counts of what has run since. Wait for it first.
WorkCounts stop_counting();

/// For the device's own parts, when the work runs.
void count_run(const char* name);
void count_bytes(const char* name, std::int64_t read, std::int64_t written);

}  // namespace kernels::simt
