#include "data/loader/stream_order.h"

#include <algorithm>

#include "engine/base/error.h"

namespace engine {

StreamOrder::StreamOrder(std::int64_t tokens, std::int64_t batch_size, std::int64_t window)
    : stream_length_(tokens / batch_size), window_(window) {
    if (stream_length_ < 2) {
        throw Error(ErrorCode::settings,
                    msg("batch_size: {}: the text has {} tokens, and each row of a batch needs at "
                        "least 2 of its own",
                        batch_size, tokens),
                    msg("Take a smaller batch or a longer text."));
    }
    starts_.resize(static_cast<std::size_t>(batch_size));
}

std::int64_t StreamOrder::batches_per_epoch() const {
    // (L - 2) / window + 1, the same for L >= 2, cannot overflow for a large window.
    return (stream_length_ - 2) / window_ + 1;
}

std::span<const std::int64_t> StreamOrder::starts(std::int64_t index) {
    std::int64_t start = index * window_;
    for (auto& row : starts_) {
        row = start;
        start += stream_length_;
    }
    return starts_;
}

std::int64_t StreamOrder::length(std::int64_t index) const {
    return std::min(window_, stream_length_ - 1 - index * window_);
}

std::int64_t StreamOrder::position(std::int64_t index) const {
    return static_cast<std::int64_t>(starts_.size()) * index * window_;
}

}  // namespace engine
