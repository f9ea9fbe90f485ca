#include "engine/runs/sample_pictures.h"

#include <algorithm>

#include "runs/run_folder.h"

namespace engine {
namespace fs = std::filesystem;

std::vector<SamplePicture> list_sample_pictures(const fs::path& run_folder) {
    std::vector<SamplePicture> out;
    std::error_code error;
    for (fs::directory_iterator it(run_folder / samples_folder, error), end; !error && it != end;
         it.increment(error)) {
        const std::int64_t step = number_of(it->path().stem());
        if (step > 0 && it->path().extension() == ".png") out.push_back({step, it->path()});
    }
    std::ranges::sort(out, {}, &SamplePicture::step);
    return out;
}

}  // namespace engine
