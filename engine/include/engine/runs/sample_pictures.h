#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace engine {

/// A drawing of a model after so many steps, a PNG file in the run's folder: `samples/STEP.png`.
/// Runs whose model draws images keep one of each evaluation. An adversarial pair draws from the
/// same random numbers each time; an autoencoder the first test images, each below its original.
struct SamplePicture {
    std::int64_t step = 0;
    std::filesystem::path file;
};

/// Lists the pictures of a run, oldest first.
std::vector<SamplePicture> list_sample_pictures(const std::filesystem::path& run_folder);

}  // namespace engine
