#include "shared/step_ends.h"

#include <algorithm>

namespace kernels::cpu {

void begin_step(const StepBeginning& beginning, Stream) {
    for (const StepBeginning::Zeros& each : beginning.zeros)
        if (each.at != nullptr) std::fill_n(static_cast<std::uint32_t*>(each.at), each.words, 0u);
    for (int i = 0; i < max_optimizers; ++i) put_rate_of(beginning, i);
}

void end_step(StepFigures* figures, const StepEnding& ending, Stream) {
    end_of_step(*figures, ending);
}

}  // namespace kernels::cpu
