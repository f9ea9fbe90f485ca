#pragma once

#include <filesystem>

#include "engine/io/picture.h"
#include "tasks/task.h"

namespace engine {

/// The bands as one picture, at most eight images in a row, with a thin dark line between images.
/// Channels are red, green, blue, or one of grey; of two or more than three the first is shown.
Picture drawn(const PictureBands& pictures);

/// Writes them as samples/STEP.png into a run's folder; nothing where there are none. Throws
/// Error(io).
void keep_pictures(const std::filesystem::path& run_folder, std::int64_t step,
                   const PictureBands& pictures);

/// Copies the pictures of steps up to this one into another run's folder. Throws Error(io).
void copy_pictures(const std::filesystem::path& from, const std::filesystem::path& to,
                   std::int64_t step);
/// Removes those of later steps, as far as that can be done.
void remove_pictures_after(const std::filesystem::path& run_folder, std::int64_t step);

}  // namespace engine
