#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace engine {

/// Which samples make up batch b of epoch e: a pure function of the settings, so that any batch can
/// be made again. One thread at a time.
class SampleOrder {
public:
    struct Options {
        std::int64_t batch_size = 128;
        std::int64_t seed = 1;
        bool shuffle = true;     ///< else 0, 1, 2, ...
        bool drop_last = false;  ///< leave out a last batch that is not full
    };

    /// The samples [0, size) in batches. With shuffle, epoch e is a Fisher-Yates permutation by the
    /// words of RandomStream(seed, StreamId::shuffle, e). Throws Error(settings) if no batch comes
    /// of it.
    SampleOrder(std::int64_t size, const Options& options);

    /// A file of sample indices, one batch a line, separated by spaces or commas; the same every
    /// epoch. Throws Error(data) that names the line.
    static SampleOrder from_file(std::int64_t size, const std::string& file);

    /// From now on the samples of a shuffled batch are of one group. A batch stands where its last
    /// sample stands in the shuffled order. Those that fill none of their group come last, group by
    /// group. `groups`: of each sample.
    void keep_groups(std::vector<std::uint8_t> groups) { groups_ = std::move(groups); }

    /// A last batch of fewer samples joins the one before it, if there is one.
    void join_short_last(std::int64_t least);

    std::int64_t batches_per_epoch() const { return static_cast<std::int64_t>(starts_.size()) - 1; }

    /// Indices of batch `index` of `epoch`; valid until the next call.
    std::span<const std::int64_t> batch(std::int64_t epoch, std::int64_t index);

    /// The index at this place of the epoch of the last batch; behind the end it begins again.
    std::int64_t at(std::int64_t position) const {
        return indices_[static_cast<std::size_t>(position) % starts_.back()];
    }

    /// Samples of an epoch before batch `index`.
    std::size_t position(std::int64_t index) const {
        return starts_[static_cast<std::size_t>(index)];
    }

private:
    SampleOrder() = default;
    void shuffle(std::int64_t epoch);
    void gather_groups();

    std::vector<std::int64_t> indices_;  // of one epoch, batch after batch
    std::vector<std::size_t> starts_;    // of each batch in indices_, and the end
    std::vector<std::uint8_t> groups_;   // of each sample; empty: there are none
    std::size_t batch_size_ = 1;
    bool shuffled_ = false;
    std::int64_t seed_ = 0;
    std::int64_t epoch_ = -1;  // that indices_ holds
};

/// How a text is cut into batches; the same in every epoch. The text becomes batch_size contiguous
/// streams of L = tokens / batch_size tokens each; the remainder is not used. Batch i holds window
/// i of every stream: `window` tokens, in the last batch perhaps fewer, since the last token of a
/// stream is only a target. One thread at a time.
///
/// The batches are those of batchify() and get_batch() in PyTorch's word language model example.
class StreamOrder {
public:
    /// Throws Error(settings) if L < 2. batch_size and window are positive.
    StreamOrder(std::int64_t tokens, std::int64_t batch_size, std::int64_t window);

    /// ceil((L - 1) / window)
    std::int64_t batches_per_epoch() const;

    /// First token of each row of batch `index`, batch_size of them: token b * L + index * window
    /// in row b. Valid until the next call.
    std::span<const std::int64_t> starts(std::int64_t index);

    /// Tokens in each row of batch `index`: min(window, L - 1 - index * window).
    std::int64_t length(std::int64_t index) const;

    /// Tokens of an epoch before batch `index`, over all rows.
    std::int64_t position(std::int64_t index) const;

private:
    std::int64_t stream_length_;
    std::int64_t window_;
    std::vector<std::int64_t> starts_;  // of one batch
};

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
    std::int64_t min_last = 1;  ///< a last batch of fewer samples joins the one before it
    std::string order{};     ///< file of sample indices, one batch a line, in place of the shuffle
    std::int64_t window = 35;  ///< of a stream: tokens in a window (bptt)
};

/// The sampler that suits the part: contiguous streams of a text, else shuffled samples. Throws
/// Error(settings) if no batch comes of it and for an order file with a stream, and Error(data) for
/// a bad order file.
std::unique_ptr<Sampler> make_sampler(const DataPart& part, const SamplerOptions& options);

}  // namespace engine
