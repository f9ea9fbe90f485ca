#include "data/image/picture_check.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "data/byte_reader.h"
#include "data/reading_progress.h"
#include "data/worker_pool.h"
#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "io/picture/readers.h"
#include "kernels/parallel.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t share_of_files = 32;  // between two looks at the stop token
constexpr std::chrono::milliseconds between_reports{100};

void look_at(const PictureFile& file, bool decode) {
    if (decode || !has_whole_picture(file.path)) load_picture(file.path, Alpha::dropped);
}

}  // namespace

std::vector<BadPicture> check_pictures(const std::vector<PictureFile>& files,
                                       const PictureCheck& check) {
    std::vector<BadPicture> bad;
    std::mutex mutex;
    WorkerPool pool(check.threads > 0 ? check.threads : kernels::cpu::hardware_threads());
    Clock::time_point reported{};
    for (std::size_t first = 0; first < files.size(); first += share_of_files) {
        if (check.stop.stop_requested()) throw ReadingStopped{};
        if (Clock::now() - reported >= between_reports) {
            report_reading({static_cast<std::int64_t>(first), std::ssize(files)});
            reported = Clock::now();
        }
        pool.run(std::min(share_of_files, files.size() - first),
                 [&](std::size_t item, std::size_t) {
                     try {
                         look_at(files[first + item], check.decode);
                     } catch (const Error& error) {
                         const std::lock_guard lock(mutex);
                         bad.push_back({first + item, error.message()});
                     }
                 });
    }
    report_reading({std::ssize(files), std::ssize(files)});
    std::ranges::sort(bad, {}, &BadPicture::index);
    return bad;
}

}  // namespace engine
