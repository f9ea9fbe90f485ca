#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/names.h"
#include "engine/base/table.h"
#include "engine/record/exponent_histogram.h"

namespace engine {

/// The kind of values in a histogram. The numbers are stored in files.
enum class HistogramKind : std::uint8_t {
    gradients,  ///< of the parameters, as the backward pass left them: multiplied by the loss scale
    activations,  ///< outputs of the forward pass
    weights,      ///< before the update; the f32 masters where there are any
    updates,      ///< weights after the update minus before
};
template <>
inline constexpr std::array enum_names<HistogramKind> = {
    "gradients", "activations", "weights", "updates"};
inline constexpr int histogram_kind_count = std::size(enum_names<HistogramKind>);

/// The narrowest type that the values, or what they were computed from, went through.
enum class ValueType : std::uint8_t { f32, bf16, f16 };
template <>
inline constexpr std::array enum_names<ValueType> = {"fp32", "bf16", "fp16"};

/// The values of one layer and kind in one step.
struct LayerHistogram {
    std::string layer;  ///< module name as PyTorch has it; "" is the model itself
    HistogramKind kind = HistogramKind::gradients;
    ExponentHistogram values;
    ValueType type = ValueType::f32;
    /// For gradients: f16 held more than 0.1 % of the layer's non-zero gradients in the last binade
    /// above 0, so others became 0 before they were counted.
    bool flushed = false;

    bool operator==(const LayerHistogram&) const = default;
};

/// The histograms of one step. Layers come in the order of the forward pass.
struct HistogramSample {
    std::int64_t step = 0;  ///< from 1
    bool shadow = false;    ///< computed in FP32 beside the run
    double loss_scale = 1;  ///< what the gradients are multiplied by
    std::vector<LayerHistogram> layers;

    /// The sum over all layers; empty if the kind was not counted.
    ExponentHistogram total(HistogramKind kind) const;
    /// Null if it was not counted.
    const LayerHistogram* find(std::string_view layer, HistogramKind kind) const;
    /// Values of this kind may be missing (LayerHistogram::flushed of any layer).
    bool flushed(HistogramKind kind) const;

    bool operator==(const HistogramSample&) const = default;
};
/// A row for each layer of this kind: how many values lie in each bin, whose column is named after
/// its exponent.
Table to_table(const HistogramSample& sample, HistogramKind kind);

/// Reads the histograms in a run's folder, live or finished. Samples are published whole. One
/// thread at a time.
class HistogramRecordReader {
public:
    /// Whether the run has kept any.
    static bool exists(const std::filesystem::path& run_folder);
    /// Throws Error(data) if the record is missing, of another version or damaged.
    static HistogramRecordReader open(const std::filesystem::path& run_folder);

    ~HistogramRecordReader();
    HistogramRecordReader(HistogramRecordReader&&) noexcept;
    HistogramRecordReader& operator=(HistogramRecordReader&&) noexcept;

    struct Sample {
        std::int64_t step;
        bool shadow;
        double loss_scale;
    };
    /// Takes in what was published since; whether there was something. Throws Error(data).
    bool refresh();
    /// The samples at the last refresh, by step; a shadow comes after its step's own sample. If a
    /// run computed a step again, the later sample counts.
    std::span<const Sample> samples() const&;
    std::span<const Sample> samples() const&& = delete;  // of a reader that goes
    /// The sample whose step is nearest to this one, the earlier of two; nothing without samples.
    std::optional<std::size_t> nearest(std::int64_t step, bool shadow = false) const;
    /// The layers, in the order in which they were first counted.
    const std::vector<std::string>& layers() const;

    /// Throws Error(value) for an index beyond the samples, and Error(data).
    HistogramSample read(std::size_t sample) const;
    /// One layer and kind over samples [first, first + count), for drift. A sample without it gives
    /// an empty histogram.
    std::vector<ExponentHistogram> read(std::string_view layer, HistogramKind kind,
                                        std::size_t first, std::size_t count) const;

private:
    struct Impl;
    explicit HistogramRecordReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine
