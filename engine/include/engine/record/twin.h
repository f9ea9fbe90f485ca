#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/table.h"

namespace engine {

struct TwinOptions {
    std::int64_t resync_every = 0;  ///< steps; 0: only on request
    bool skip_together = false;     ///< the reference skips the steps that the other one skips
    bool share_proposals = false;   ///< the reference's detector takes the other one's proposals
};

/// Two sessions of the same settings in two precisions, in lockstep on one compute thread, with the
/// same initial weights, batches, augmentation and dropout masks. In each step the second session
/// computes first; then the gradients of both are compared by layer, and the result is written to
/// the second one's folder (TwinRecordReader). Pass it to both in SessionOptions. Thread-safe.
class Twin {
public:
    /// Which of the two a session is.
    enum class Side { reference, other };

    explicit Twin(const TwinOptions& options = {});
    ~Twin();
    Twin(const Twin&) = delete;
    Twin& operator=(const Twin&) = delete;

    /// At the end of the step the second session takes over weights, masters, buffers, carried
    /// state and optimizer state of the reference; its loss scale stays.
    void resync();
    void set_resync_every(std::int64_t steps);
    void set_skip_together(bool on);

    class Coupling;  ///< the sessions' interface
    Coupling& coupling() { return *coupling_; }

private:
    std::unique_ptr<Coupling> coupling_;
};

/// How far apart the gradients of a layer are in one step. Both are unscaled and not clipped.
struct TwinRow {
    std::int64_t step = 0;   ///< from 1
    std::int32_t layer = 0;  ///< index into TwinRecordReader::layers()
    float error = 0;         ///< |other - reference| / |reference|; NaN: one is not finite
    float angle = 0;         ///< between the two, in degrees; NaN likewise
    bool skipped = false;    ///< the other one skipped the step
    bool resynced = false;   ///< the state was copied over at the end of this step

    bool operator==(const TwinRow&) const = default;
};

/// Reads the comparison of a twin in the folder of its second run, live or finished. A step has one
/// row for each layer, in the order of the network. One thread at a time.
class TwinRecordReader {
public:
    static bool exists(const std::filesystem::path& run_folder);
    /// Throws Error(data) if the record is missing, of another version or damaged.
    static TwinRecordReader open(const std::filesystem::path& run_folder);

    ~TwinRecordReader();
    TwinRecordReader(TwinRecordReader&&) noexcept;
    TwinRecordReader& operator=(TwinRecordReader&&) noexcept;

    /// Id of the run that it is compared with.
    const std::string& reference() const;
    const std::vector<std::string>& layers() const;
    /// Rows published so far: steps() times layers().
    std::int64_t size() const;
    /// Steps published so far.
    std::int64_t steps() const;
    /// Rows [first, first + out.size()). Throws Error(value) for rows that are not published.
    void rows(std::int64_t first, std::span<TwinRow> out) const;

private:
    struct Impl;
    explicit TwinRecordReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The results of a twin for one layer.
struct TwinLayer {
    std::string name;
    float error = 0, angle = 0;     ///< of the last step that was not skipped
    std::optional<float> rounding;  ///< error in the first step after the start or a resync:
                                    ///< the weights were the same, so it is rounding alone
    std::int64_t diverged = 0;      ///< first step of five in a row with an error above 10 %;
                                    ///< since the last resync; 0: it has not
    std::int64_t above = 0;         ///< steps in a row with an error above 10 %
};

/// A layer that had diverged, before a resync.
struct TwinMark {
    std::size_t layer = 0;
    std::int64_t step = 0;  ///< TwinLayer::diverged

    bool operator==(const TwinMark&) const = default;
};

/// The rows of a twin, added one by one.
class TwinDigest {
public:
    static constexpr float limit = 0.1F;        ///< an error above it counts as apart
    static constexpr std::int64_t lasting = 5;  ///< after this many steps in a row

    explicit TwinDigest(const std::vector<std::string>& layers);
    void add(const TwinRow& row);

    const std::vector<TwinLayer>& layers() const { return layers_; }
    /// The index of the layer that diverged first; nothing if none has.
    std::optional<std::size_t> first_to_diverge() const;
    /// The first step after the last resync, from which `diverged` counts; 1: there was none.
    std::int64_t part_begins() const { return part_begins_; }
    /// The layers that had diverged in the parts before, in the order of their steps.
    const std::vector<TwinMark>& earlier_marks() const { return earlier_; }
    /// Every row so far had the same bits on both sides.
    bool identical() const { return identical_; }
    /// The first row with a difference; its step is 0 if there was none.
    const TwinRow& first_difference() const { return first_difference_; }

private:
    void begin_part(std::int64_t step);

    std::vector<TwinLayer> layers_;
    bool fresh_ = true;      ///< the step began with the same weights on both sides
    bool resynced_ = false;  ///< at the end of the step
    std::int64_t step_ = 0;
    std::int64_t part_begins_ = 1;
    std::vector<TwinMark> earlier_;
    bool identical_ = true;
    TwinRow first_difference_;
};

/// One step of a twin.
struct TwinStep {
    std::int64_t step = 0;  ///< from 1
    bool skipped = false;
    std::span<const float> errors, angles;  ///< by layer; NaN: not finite
};

/// The layers of a step: their errors and angles in it, and the figures of the whole twin for each.
Table to_table(const TwinDigest& digest, const TwinStep& step);

}  // namespace engine
