#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/table.h"

namespace engine {

/// The casts of one operand in a step, in one orientation (low-bits.md).
struct QuantizationRow {
    static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

    std::int64_t step = 0;  ///< from 1
    std::int32_t slot = 0;  ///< place in the list of slots
    float amax = 0;         ///< largest magnitude of the finite values
    /// Factor before the cast: of the tensor; of nvfp4 that of the first level; else the smallest of
    /// the blocks'.
    float scale = unknown;
    float block_scale_min = unknown, block_scale_max = unknown;  ///< of blocks with content
    float history_max = unknown;    ///< with scales of earlier steps
    float current_scale = unknown;  ///< largest value / amax: one scale that fits this tensor
    /// The smallest single scale with which at least 99.9 % of the non-zero values keep a code other
    /// than 0, to a factor of two.
    float scale_floor = unknown;
    std::int64_t zero_blocks = 0;  ///< with the scale code 0 and values other than 0
    std::int64_t elements = 0, nonzero = 0, zeroed = 0, saturated = 0;
    std::int64_t subnormal = 0;  ///< codes
    std::int64_t nonfinite = 0;  ///< values
    double error2 = 0;   ///< sum of squares of decoded code - value, over finite ones
    double signal2 = 0;  ///< sum of squares of the values
    double noise2 = 0;   ///< expected sum of squares that rounding at random adds; else 0

    /// Signal to error, in dB.
    double decibels() const;
    double zeroed_share() const;
    double saturated_share() const;
};

/// An operand of a layer's products in one orientation.
struct QuantizationSlot {
    std::string module, role;  ///< role: x, w or g
    std::string orientation;   ///< "columns", "rows": what the products sum over; "both"
    std::int64_t rows = 0, cols = 0;
    std::string format;  ///< "e4m3"
    std::string engine;  ///< "emulated" or "native"
    std::string reason;  ///< of the engine

    std::string name() const { return module + '.' + role; }
    bool operator==(const QuantizationSlot&) const = default;
};

/// How many blocks of a slot have a scale code.
struct ScaleCodeCount {
    std::int64_t step = 0;
    std::int32_t slot = 0, code = 0;
    std::int64_t blocks = 0;

    bool operator==(const ScaleCodeCount&) const = default;
};

/// Reads what a run with a recipe keeps of its casts, live or finished. One thread at a time.
class QuantizationReader {
public:
    static bool exists(const std::filesystem::path& run_folder);
    /// Throws Error(data) if the record is missing, of another version or damaged.
    static QuantizationReader open(const std::filesystem::path& run_folder);

    ~QuantizationReader();
    QuantizationReader(QuantizationReader&&) noexcept;
    QuantizationReader& operator=(QuantizationReader&&) noexcept;

    /// Takes in what was published since; whether there was something. Throws Error(data).
    bool refresh();
    /// Steps with a sample, ascending. Of a step that was computed again the later sample counts.
    std::vector<std::int64_t> steps() const;
    const std::vector<QuantizationSlot>& slots() const;
    /// The rows of the sampled step nearest to this one, the earlier of two; empty without any.
    /// Throws Error(data).
    std::vector<QuantizationRow> read(std::int64_t step) const;
    /// Counts of scale codes, of the nearest step that has some: a long run keeps them for a part of
    /// its sampled steps.
    std::vector<ScaleCodeCount> read_scale_codes(std::int64_t step) const;

private:
    struct Impl;
    explicit QuantizationReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// A row for each operand and orientation.
Table to_table(std::span<const QuantizationRow> rows, std::span<const QuantizationSlot> slots);

}  // namespace engine
