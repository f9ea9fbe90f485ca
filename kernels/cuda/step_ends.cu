#include "shared/step_ends.h"

#include "cuda/early_launch.cuh"

namespace kernels::cuda {
namespace {

/// One block. A warp beyond the first has a thread for each learning rate.
__global__ void begin_step_kernel(StepBeginning beginning) {
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < StepBeginning::max_zeros; ++i) {
        const StepBeginning::Zeros& each = beginning.zeros[i];
        auto* words = static_cast<std::uint32_t*>(each.at);
        if (words == nullptr) continue;
        for (std::int64_t k = thread; k < each.words; k += blockDim.x) words[k] = 0;
    }
#pragma unroll
    for (int i = 0; i < max_optimizers; ++i)
        if (thread == warp_size * (i + 1)) put_rate_of(beginning, i);
}
static_assert(warp_size * (max_optimizers + 1) <= default_threads);

__global__ void end_step_kernel(StepFigures* figures, StepEnding ending) {
    wait_for_earlier_kernels();
    end_of_step(*figures, ending);
}

}  // namespace

void begin_step(const StepBeginning& beginning, Stream stream) {
    launch("begin_step", begin_step_kernel, Grid{1, default_threads}, stream, beginning);
}

void end_step(StepFigures* figures, const StepEnding& ending, Stream stream) {
    launch_early("end_step", end_step_kernel, Grid{1, 1}, stream, figures, ending);
}

}  // namespace kernels::cuda
