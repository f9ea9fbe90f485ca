#pragma once

#include <bit>
#include <cstdint>

#include "kernels/array.h"
#include "kernels/host_device.h"
#include "kernels/kernel.h"

/// Deferred device errors: out-of-range values that a kernel finds while nobody waits. The kernel
/// records the value in a word of device memory, which the host reads when it waits anyway.
namespace kernels {

/// The violated rule and the value; 0: none. The first violated rule in the order of the stream
/// stays; of several values the smallest.
using DeferredError = std::uint64_t;

/// Where a kernel records an error.
struct DeferredErrorPlace {
    DeferredError* note = nullptr;  ///< on the device; null: nothing is recorded
    std::uint32_t rule = 0;         ///< 1 to max_deferred_rules
};

constexpr int deferred_value_bits = 44;
constexpr std::uint32_t max_deferred_rules = (1u << (64 - deferred_value_bits)) - 1;
/// Larger magnitudes are recorded as this one.
constexpr std::int64_t max_noted = (std::int64_t{1} << (deferred_value_bits - 1)) - 1;
constexpr std::int64_t min_noted = -max_noted - 1;

// Codes are in the order of their values.
HALFTONE_HOST_DEVICE inline std::uint64_t code_of(std::int64_t value) {
    const std::int64_t held = value < min_noted   ? min_noted
                              : value > max_noted ? max_noted
                                                  : value;
    return static_cast<std::uint64_t>(held - min_noted);
}
/// Code of a number that is not NaN: exact for one of f32, else rounded to 33 bits.
HALFTONE_HOST_DEVICE inline std::uint64_t code_of(double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return ((bits & sign) != 0 ? ~bits : bits | sign) >> (64 - deferred_value_bits);
}

inline std::uint32_t rule_of(DeferredError note) {
    return static_cast<std::uint32_t>(note >> deferred_value_bits);
}
inline std::int64_t whole_value_of(DeferredError note) {
    const std::uint64_t code = note & ((std::uint64_t{1} << deferred_value_bits) - 1);
    return static_cast<std::int64_t>(code) + min_noted;
}
inline double value_of(DeferredError note) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const std::uint64_t ordered = note << (64 - deferred_value_bits);
    if ((ordered & sign) != 0) return std::bit_cast<double>(ordered ^ sign);
    return std::bit_cast<double>(
        ~(ordered | ((std::uint64_t{1} << (64 - deferred_value_bits)) - 1)));
}

/// Integers in [low, high]; if `with_but` also this one, which may lie outside.
struct WholeRange {
    std::int64_t low, high, but = 0;
    bool with_but = false;

    HALFTONE_HOST_DEVICE bool holds(std::int64_t v) const {
        return (v >= low && v <= high) || (with_but && v == but);
    }
};

/// Records the elements of x (i64) that are out of the range.
using CheckWhole = void(const DeferredErrorPlace& place, ConstArray x, const WholeRange& range,
                        Stream stream);
HALFTONE_CUDA_KERNEL(CheckWhole, check_whole);
/// Records the elements of x (floating) below low or above high; NaN is neither.
using CheckNumbers = void(const DeferredErrorPlace& place, ConstArray x, double low, double high,
                          Stream stream);
HALFTONE_CUDA_KERNEL(CheckNumbers, check_numbers);
/// Moves the recorded error to *to, unless there is one already; then *note is 0.
using TakeDeferredError = void(DeferredError* to, DeferredError* note, Stream stream);
HALFTONE_CUDA_KERNEL(TakeDeferredError, take_deferred_error);

/// On the CPU errors are thrown at once.
namespace cuda {
/// The word of the calling thread's device: a variable of the program's image there, 0 at first,
/// for the life of the process. Throws DeviceError.
DeferredError* deferred_error_word();
}  // namespace cuda

}  // namespace kernels
