#pragma once

#include "tasks/task_descriptor.h"

namespace engine {

/// The range that pixels are brought to.
struct PixelRange {
    float black = 0;
    float white = 1;
};
inline constexpr PixelRange pixels_from_zero{0, 1};
inline constexpr PixelRange pixels_around_zero{-1, 1};

/// The schemas of a task whose model draws images: pixels in this range, regardless of the
/// normalisation in the settings, which the output of a sigmoid or tanh cannot follow.
TaskSchemas image_schemas(const TaskSetup& setup, PixelRange range);

}  // namespace engine
