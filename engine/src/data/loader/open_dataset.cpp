#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <sstream>
#include <stop_token>

#include "data/byte_reader.h"
#include "data/data_fingerprint.h"
#include "data/dataset_descriptor.h"
#include "data/image/image_transforms.h"
#include "engine/base/error.h"
#include "tensor/philox.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr int folders_deep = 2;  // train/CLASS

/// Names, sizes and times of the files of a path, and of its folders down to depth `deep`. Equal
/// fingerprints mean the same files.
void add_fingerprint(std::ostream& out, const fs::path& path, int deep) {
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
    // The time of a folder moves when something in it comes or goes.
    if (deep == 0) return;
    for (const auto& file : files) {
        if (fs::is_directory(file, ignored)) add_fingerprint(out, file, deep - 1);
    }
}

std::string cache_key(const DatasetConfig& config, std::int64_t seed) {
    std::ostringstream key;
    key.precision(std::numeric_limits<double>::max_digits10);
    key << config.kind << ' ' << config.train_limit << ' ' << config.test_limit << ' '
        << config.validation_share << '\n';
    for (const auto& path : config.path) add_fingerprint(key, path, folders_deep);
    for (const OptionSpec& spec : dataset_descriptor(config.kind).options) {
        const auto given = config.options.find(spec.name);
        if (spec.is_file && given != config.options.end())
            add_fingerprint(key, std::get<std::string>(given->second), 0);
    }
    for (const auto& [name, value] : config.options) key << name << '=' << to_string(value) << '\n';
    // A data set that changes its images itself decides by these when it is opened.
    const Schema schema = dataset_descriptor(config.kind).schema(config);
    if (schema.fields.front().own_changes)
        key << "augment " << config.augment << " normalize " << config.normalize << '\n';
    // Files are the same for every seed, unless rows are split off by it.
    const bool splits = config.validation_share > 0 || dataset_descriptor(config.kind).files_decide;
    if (config.path.empty() || splits) key << seed;
    return key.str();
}

/// A part that is held as long as somebody uses its data set.
struct HeldPart {
    std::weak_ptr<const Dataset> data;
    std::shared_ptr<const std::vector<std::int64_t>> rows;
    bool there = false;

    explicit HeldPart(const DataPart& part = {})
        : data(part.data), rows(part.rows), there(part.data != nullptr) {}
    /// Nothing if the data set is gone.
    std::optional<DataPart> lock() const {
        DataPart part{data.lock(), rows};
        if (there && !part.data) return std::nullopt;
        return part;
    }
};

struct Opened {
    HeldPart train, validation, test;
    std::vector<Message> warnings;
    std::shared_ptr<ReadFiles> files;

    std::optional<DataParts> lock() const {
        const auto first = train.lock(), second = validation.lock(), third = test.lock();
        if (!train.there || !first || !second || !third) return std::nullopt;
        return DataParts{*first, *second, *third, warnings, files};
    }
};

/// One run reads at a time, which may take many seconds. Throws ReadingStopped if the run is
/// stopped while it waits.
class ReadingTurn {
public:
    explicit ReadingTurn(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        if (!ended_.wait(lock, stop, [] { return !taken_; })) throw ReadingStopped{};
        taken_ = true;
    }
    ~ReadingTurn() {
        {
            const std::lock_guard lock(mutex_);
            taken_ = false;
        }
        ended_.notify_one();
    }
    ReadingTurn(const ReadingTurn&) = delete;
    ReadingTurn& operator=(const ReadingTurn&) = delete;

private:
    static inline std::mutex mutex_;
    static inline std::condition_variable_any ended_;
    static inline bool taken_ = false;
};

/// Opens a data set with `open`, and lists the files that it reads.
template <typename Open>
DataParts opened_with(const Open& open, const DatasetConfig& config, std::int64_t seed,
                      const std::stop_token& stop) {
    const auto files = std::make_shared<ReadFiles>(config.path);
    DataParts parts;
    {
        const ReadFilesScope scope(files);
        parts = open();
    }
    files->add_unread(stop);
    parts.files = files;
    if (config.validation_share > 0 && !parts.validation.data)
        split_validation(parts, config.validation_share, seed);
    return parts;
}

/// Fisher-Yates by the words of RandomStream(seed, StreamId::split, 1); substream 0 is the tables'.
std::vector<std::int64_t> shuffled(std::int64_t count, std::int64_t seed) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    const RandomStream random(seed, StreamId::split, 1);
    for (std::size_t left = out.size(); left > 1; --left)
        std::swap(out[left - 1], out[random.bounded(left, static_cast<std::uint32_t>(left))]);
    return out;
}

}  // namespace

std::int64_t limited(std::int64_t size, std::int64_t limit) {
    return limit > 0 ? std::min(size, limit) : size;
}

void split_validation(DataParts& parts, double share, std::int64_t seed) {
    const std::int64_t all = parts.train.size();
    const std::int64_t taken = std::llround(share * static_cast<double>(all));
    if (taken < 1 || taken >= all) {
        throw Error(ErrorCode::settings,
                    msg("dataset.validation_share: {}: nothing would be left of one part of {} "
                        "training samples",
                        share, all),
                    msg("Take another share or more samples."));
    }
    auto order = shuffled(all, seed);
    const auto part_of = [&](auto begin, auto end) {
        std::vector<std::int64_t> rows(begin, end);
        std::sort(rows.begin(), rows.end());
        for (auto& row : rows) row = parts.train.sample(row);
        return std::make_shared<const std::vector<std::int64_t>>(std::move(rows));
    };
    const auto middle = order.begin() + taken;
    parts.validation = {parts.train.data, part_of(order.begin(), middle)};
    parts.train.rows = part_of(middle, order.end());
}

DataParts open_dataset(const DatasetConfig& config, std::int64_t seed,
                       const std::stop_token& stop) {
    // Only weak references: a data set goes when its last user goes. The turn lasts while reading,
    // so that of two runs started together the second waits for the first one's copy.
    static std::map<std::string, Opened> opened;
    const ReadingTurn turn(stop);
    std::erase_if(opened, [](const auto& item) { return !item.second.lock(); });

    const std::string key = cache_key(config, seed);
    // Another thread may drop the last reference at any time.
    if (const auto held = opened.find(key); held != opened.end())
        if (auto parts = held->second.lock()) return *std::move(parts);
    DataParts parts =
        opened_with([&] { return dataset_descriptor(config.kind).open(config, seed, stop); },
                    config, seed, stop);
    opened[key] = {HeldPart(parts.train), HeldPart(parts.validation), HeldPart(parts.test),
                   parts.warnings, parts.files};
    return parts;
}

DataParts open_dataset_as(const std::vector<std::string>& vocabulary, const DatasetConfig& config,
                          std::int64_t seed, const std::stop_token& stop) {
    const auto open = [&] {
        return dataset_descriptor(config.kind).open_as(vocabulary, config, seed, stop);
    };
    return opened_with(open, config, seed, stop);
}

Schema with_transforms(const Schema& schema, const DatasetConfig& config, bool training) {
    Schema out = schema;
    const ImageChanges changes = training ? image_changes(config) : ImageChanges{};
    for (FieldSpec& field : out.fields) {
        const bool image = field.kind == FieldKind::image;
        if (field.own_changes) {
            out.augmented = training;
            continue;
        }
        const bool augment = image && training && config.augment;
        out.augmented = out.augmented || (augment && field.own_crop);
        if (augment && !field.own_crop)
            field.transforms.push_back(std::make_shared<CropAndFlip>(field.shape));
        if (image && changes.color_jitter > 0)
            field.transforms.push_back(std::make_shared<ColorJitter>(changes.color_jitter));
        // The predicted value is always learnt in units of its deviation.
        const bool wanted = config.normalize || field.kind == FieldKind::value;
        if (wanted && !field.normalization.empty())
            field.transforms.push_back(std::make_shared<Normalize>(
                field.normalization, image ? field.shape[2] : std::int64_t{1}));
        if (image && changes.cutout > 0)
            field.transforms.push_back(std::make_shared<Cutout>(field.shape, changes.cutout));
    }
    return out;
}

}  // namespace engine
