#pragma once

#include <vector>

#include "core/tensor.h"

namespace engine {

/// A batch norm has seen a batch: adds 1 to its count, an i64 of no dimensions, at once or with the
/// calling thread's BatchCounts.
void count_batch(const Tensor& count);

/// While it lives, batch norms of this thread note what they have seen, so that a step has one
/// kernel for all of them and not one for each.
class BatchCounts {
public:
    BatchCounts();
    ~BatchCounts();
    BatchCounts(const BatchCounts&) = delete;
    BatchCounts& operator=(const BatchCounts&) = delete;
    /// Counts what was noted. What has not been when the object goes is not counted.
    void count();

private:
    friend void count_batch(const Tensor& count);
    void note(const Tensor& count);

    std::vector<Tensor> seen_;  // each once
    BatchCounts* before_;
};

}  // namespace engine
