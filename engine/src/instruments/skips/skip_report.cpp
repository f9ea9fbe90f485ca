#include "engine/instruments/skip_report.h"

#include <array>

namespace engine {

const char* name(SkipCause cause) noexcept {
    constexpr std::array names = {"unknown",          "damaged_state", "bad_input",
                                  "forward_overflow", "mathematical",  "scale_too_large",
                                  "optimizer"};
    return names[static_cast<std::size_t>(cause)];
}

Message title(SkipCause cause) {
    switch (cause) {
        case SkipCause::unknown:
            return msg("Unknown");
        case SkipCause::damaged_state:
            return msg("Damaged state");
        case SkipCause::bad_input:
            return msg("Bad input");
        case SkipCause::forward_overflow:
            return msg("Forward overflow");
        case SkipCause::mathematical:
            return msg("Mathematical NaN");
        case SkipCause::scale_too_large:
            return msg("Scale too large");
        case SkipCause::optimizer:
            return msg("Optimizer");
    }
    return {};
}

const char* name(SkipStage stage) noexcept {
    constexpr std::array names = {"state", "batch", "forward", "backward", "update"};
    return names[static_cast<std::size_t>(stage)];
}

Message SkipReport::verdict() const {
    switch (cause) {
        case SkipCause::unknown:
            return msg("No cause found: computed again, the step is finite.");
        case SkipCause::damaged_state:
            return msg("Damaged state: it was not finite before the step.");
        case SkipCause::bad_input:
            return msg("Bad input: the batch is not finite.");
        case SkipCause::forward_overflow:
            return msg("Forward overflow: a 16-bit tensor left the range of its type.");
        case SkipCause::mathematical:
            return msg("Mathematical NaN: the result is not finite at any scale.");
        case SkipCause::scale_too_large:
            return skipped ? msg("Benign: the scale was too large.")
                           : msg("The scale was too large, but the step was not skipped.");
        case SkipCause::optimizer:
            return msg("Optimizer: finite gradients made a weight non-finite.");
    }
    return {};
}

}  // namespace engine
