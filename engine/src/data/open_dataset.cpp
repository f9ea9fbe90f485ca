#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "data/cifar.h"
#include "data/dataset.h"
#include "data/glyph_dataset.h"
#include "data/idx.h"
#include "data/spiral_dataset.h"
#include "engine/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

std::int64_t limited(std::int64_t size, std::int64_t limit) {
    return limit > 0 ? std::min(size, limit) : size;
}

template <typename Generated>
DatasetPair generate(const DatasetConfig& config, std::int64_t seed, StreamId train,
                     StreamId test) {
    return {
        std::make_shared<Generated>(seed, train,
                                    limited(Generated::train_size, config.train_limit)),
        std::make_shared<Generated>(seed, test, limited(Generated::test_size, config.test_limit))};
}

DatasetPair load(const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop) {
    if (config.kind == "spirals") {
        return generate<SpiralDataset>(config, seed, StreamId::spirals_train,
                                       StreamId::spirals_test);
    }
    if (config.kind == "glyphs") {
        return generate<GlyphDataset>(config, seed, StreamId::glyphs_train, StreamId::glyphs_test);
    }
    if (config.kind == "mnist" || config.kind == "fashion-mnist") return open_idx(config, stop);
    if (config.kind == "cifar10" || config.kind == "cifar100") return open_cifar(config, stop);
    throw Error(ErrorCode::settings,
                msg("dataset.kind: {} is not a data set of this version", config.kind),
                msg("`halftone datasets` lists those that it reads."));
}

/// Names, sizes and times of what a path holds: two equal fingerprints mean the same files.
void add_fingerprint(std::ostream& out, const fs::path& path) {
    // A path that cannot be looked at fails with a sentence when it is opened.
    std::error_code ignored;
    const auto add = [&](const fs::path& file) {
        out << file << ' ' << fs::file_size(file, ignored) << ' '
            << fs::last_write_time(file, ignored).time_since_epoch().count() << '\n';
    };
    add(fs::weakly_canonical(path, ignored));
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path, ignored)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) add(file);
}

std::string cache_key(const DatasetConfig& config, std::int64_t seed) {
    std::ostringstream key;
    key << config.kind << ' ' << config.train_limit << ' ' << config.test_limit << '\n';
    for (const auto& path : config.path) add_fingerprint(key, path);
    if (config.path.empty()) key << seed;
    return key.str();
}

struct Opened {
    std::weak_ptr<const Dataset> train;
    std::weak_ptr<const Dataset> test;
};

/// Another run may be reading for many seconds.
std::unique_lock<std::timed_mutex> lock_unless_stopped(std::timed_mutex& mutex,
                                                       const std::stop_token& stop) {
    std::unique_lock lock(mutex, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(50))) {
        if (stop.stop_requested()) throw ReadingStopped{};
    }
    return lock;
}

}  // namespace

DatasetPair open_dataset(const DatasetConfig& config, std::int64_t seed,
                         const std::stop_token& stop) {
    // Only weak references: a data set goes when its last user goes. The lock is held while
    // reading, so that of two runs started together the second waits for the first one's copy.
    static std::timed_mutex mutex;
    static std::map<std::string, Opened> opened;
    const auto lock = lock_unless_stopped(mutex, stop);
    std::erase_if(opened, [](const auto& item) { return item.second.train.expired(); });

    const std::string key = cache_key(config, seed);
    Opened& held = opened[key];
    DatasetPair pair{held.train.lock(), held.test.lock()};
    if (pair.train && pair.test) return pair;
    pair = load(config, seed, stop);
    held = {pair.train, pair.test};
    return pair;
}

}  // namespace engine
