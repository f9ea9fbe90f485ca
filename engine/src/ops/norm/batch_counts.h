#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// Adds 1 to the count of batches of a batch norm, a 0-d i64: at once, or later if the calling
/// thread has a BatchCounts.
void count_batch(const Tensor& count);

/// While it lives, collects the counts of this thread's batch norms, so that a step updates all of
/// them with one kernel.
class BatchCounts {
public:
    /// Updates the collected counts. Those not updated before the object ends are lost.
    void count();

private:
    friend void count_batch(const Tensor& count);
    void note(const Tensor& count);

    std::vector<Tensor> seen_;  // each once
    ContextScope<&ComputeContext::batch_counts> scope_{this};
};

}  // namespace engine
