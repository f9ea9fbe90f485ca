#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

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

}  // namespace engine
