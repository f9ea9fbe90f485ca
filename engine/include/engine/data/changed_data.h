#pragma once

#include "engine/base/error.h"

namespace engine {

/// The data set of a run has changed since the run read it, but can be used all the same: call again
/// with `accept_data` (SessionOptions, TrainedModel::evaluate()). Where that cannot help, as with
/// other columns, the error is a plain Error(data).
class ChangedData final : public Error {
public:
    ChangedData(Message message, Message hint, bool other_size)
        : Error(ErrorCode::data, std::move(message), std::move(hint)), other_size_(other_size) {}

    /// The parts have other numbers of samples.
    bool other_size() const noexcept { return other_size_; }

private:
    bool other_size_;
};

}  // namespace engine
