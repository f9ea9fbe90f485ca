#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

    std::vector<std::int64_t> indices_;  // of one epoch, batch after batch
    std::vector<std::size_t> starts_;    // of each batch in indices_, and the end
    bool shuffled_ = false;
    std::int64_t seed_ = 0;
    std::int64_t epoch_ = -1;  // that indices_ holds
};

}  // namespace engine
