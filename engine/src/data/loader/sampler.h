#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/dataset.h"

namespace engine {

/// The samples of one batch.
struct BatchPlan {
    std::span<const std::int64_t> indices;  ///< of the data set; valid until the next plan
    std::int64_t window = 1;                ///< tokens of a stream that each index stands for
    std::int64_t position = 0;              ///< samples of the epoch before it
    bool full = false;                      ///< as large as any batch of the epoch
};

/// Which samples make up batch b of epoch e: a pure function of the settings, so that any batch can
/// be made again. One thread at a time.
class Sampler {
public:
    virtual ~Sampler() = default;
    virtual std::int64_t batches_per_epoch() const = 0;
    /// Throws Error(data) for a batch out of range.
    virtual BatchPlan plan(std::int64_t epoch, std::int64_t index) = 0;
    /// The sample at this place of the epoch of the last plan; behind the end it begins again. -1
    /// for a stream, whose samples are never damaged one by one. Any thread, between two plans.
    virtual std::int64_t sample_at(std::int64_t position) const {
        (void)position;
        return -1;
    }
};

struct SamplerOptions {
    std::int64_t batch_size = 128;
    std::int64_t seed = 1;
    bool shuffle = true;     ///< else in order; streams are always in order
    bool drop_last = false;  ///< leave out a last batch that is not full
    std::int64_t least_last = 1;  ///< a last batch of fewer samples joins the one before it
    std::string order{};     ///< file of sample indices, one batch a line, in place of the shuffle
    std::int64_t window = 35;  ///< of a stream: tokens in a window (bptt)
};

/// The sampler that suits the part: contiguous streams of a text, else shuffled samples. Throws
/// Error(settings) if no batch comes of it and for an order file with a stream, and Error(data) for
/// a bad order file.
std::unique_ptr<Sampler> make_sampler(const DataPart& part, const SamplerOptions& options);

}  // namespace engine
