#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "data/dataset_descriptor.h"
#include "data/image/cifar.h"
#include "data/image/image_transforms.h"
#include "engine/base/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> cifar10_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                "dog",      "frog",       "horse", "ship", "truck"};
constexpr const char* cifar100_names_file = "fine_label_names.txt";

constexpr const char* cifar_page = "https://www.cs.toronto.edu/~kriz/cifar.html";

const char* archive_name(const CifarFormat& format) {
    return is_cifar10(format) ? "cifar-10-binary.tar.gz" : "cifar-100-binary.tar.gz";
}

/// Whether a file has a name of the Python version, whose files are pickles.
bool is_python_part(const std::string& name) {
    const bool batch = name.starts_with("data_batch_") && name.find('.') == std::string::npos;
    return batch || name == "test_batch" || name == "batches.meta" || name == "train" ||
           name == "test" || name == "meta";
}

[[noreturn]] void refuse_python_version(const std::string& path, const CifarFormat& format) {
    throw Error(ErrorCode::data,
                msg("{}: the Python version of {}, which is not read", path, format.title),
                msg("Get the binary version, {}, from {}.", archive_name(format), cifar_page));
}

bool begins_as_pickle(const fs::path& file) {
    std::array<char, 2> start{};
    std::ifstream(file, std::ios::binary).read(start.data(), start.size());
    return start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
}

/// Whether the path, its folder, or the official folder or archive in it are the Python version.
bool holds_python_version(const fs::path& path, const CifarFormat& format) {
    std::error_code ignored;
    const bool ten = is_cifar10(format);
    const fs::path folder = fs::is_directory(path, ignored) ? path : path.parent_path();
    if (fs::exists(folder / (ten ? "cifar-10-python.tar.gz" : "cifar-100-python.tar.gz"), ignored))
        return true;
    for (const fs::path& place :
         {folder, folder / (ten ? "cifar-10-batches-py" : "cifar-100-python")}) {
        for (const auto& entry : fs::directory_iterator(place, ignored))
            if (is_python_part(entry.path().filename().string()) && begins_as_pickle(entry.path()))
                return true;
    }
    return false;
}

/// Collects the two sets and the names of the classes from one file after another.
class CifarReader {
public:
    CifarReader(const CifarFormat& format, const DatasetConfig& config, const std::stop_token& stop)
        : format_(format),
          train_limit_(config.train_limit),
          test_limit_(config.test_limit),
          stop_(stop) {}

    void add_file(const DataFile& file) {
        const auto reader = open_packed(file.path, {format_.max_file_bytes(), stop_});
        add(file.name, file.path.string(), *reader);
        const fs::path names = file.path.parent_path() / cifar100_names_file;
        if (names_.empty() && fs::exists(names)) add_names(*open_packed(names));
    }

    /// The parts of an archive may be in any order, so they are sorted by name before they are
    /// joined.
    void add_archive(const fs::path& archive) {
        struct Part {
            std::string name;
            LabelledImages images;
        };
        std::vector<Part> parts;
        const auto add_entry = [&](const std::string& entry, ByteReader& reader) {
            const std::string name = recognition_name(entry);
            if (name == cifar100_names_file) add_names(reader);
            python_ = python_ || is_python_part(name);
            if (name.ends_with(".tar") || name.ends_with(".zip") || name.ends_with(".tgz"))
                archive_inside_ = entry;
            if (is_cifar_train(name) || is_cifar_test(name)) {
                parts.push_back({name, {}});
                append_cifar(archive.string() + "/" + entry, reader, format_, 0,
                             parts.back().images);
            }
            return true;
        };
        // Twice the images, which leaves room for the headers and for files that are not read.
        for_each_entry(archive, add_entry, {2 * format_.max_file_bytes(), stop_});
        std::stable_sort(parts.begin(), parts.end(),
                         [](const Part& a, const Part& b) { return name_before(a.name, b.name); });
        for (const auto& part : parts)
            join(part.images, is_cifar_train(part.name) ? train_ : test_);
        cut(train_, train_limit_);
        cut(test_, test_limit_);
    }

    DataParts finish(const std::string& folder) {
        if (train_.size() == 0 && python_) refuse_python_version(folder, format_);
        if (train_.size() == 0 && !archive_inside_.empty()) {
            throw Error(ErrorCode::data,
                        msg("{}: holds another archive, {}", folder, archive_inside_),
                        msg("Unpack the outer one first, and set dataset.path to the inner one."));
        }
        const auto refuse = [&](Message message) {
            throw Error(ErrorCode::data, std::move(message), where_to_get(wanted_cifar(format_)));
        };
        if (train_.size() == 0)
            refuse(msg("{}: no training set of {} here", folder, format_.title));
        if (test_.size() == 0) refuse(msg("{}: no test set of {} here", folder, format_.title));
        return make_image_datasets(std::move(train_), std::move(test_), class_names());
    }

private:
    void add(const std::string& name, const std::string& shown, ByteReader& reader) {
        LabelledImages& set = is_cifar_train(name) ? train_ : test_;
        const std::int64_t limit = is_cifar_train(name) ? train_limit_ : test_limit_;
        if (limit > 0 && set.size() >= limit) return;
        append_cifar(shown, reader, format_, limit > 0 ? limit - set.size() : 0, set);
    }

    static void join(const LabelledImages& part, LabelledImages& set) {
        set.pixels.insert(set.pixels.end(), part.pixels.begin(), part.pixels.end());
        set.labels.insert(set.labels.end(), part.labels.begin(), part.labels.end());
    }

    static void cut(LabelledImages& set, std::int64_t limit) {
        if (limit == 0 || set.size() <= limit) return;
        set.labels.resize(static_cast<std::size_t>(limit));
        set.pixels.resize(static_cast<std::size_t>(limit * set.shape.numel()));
    }

    void add_names(ByteReader& reader) {
        std::array<std::uint8_t, 8192> text{};
        const std::size_t length = reader.read(text);
        std::istringstream lines(
            std::string(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length)));
        names_.clear();
        for (std::string line; std::getline(lines, line);) {
            if (line.ends_with('\r')) line.pop_back();
            if (!line.empty()) names_.push_back(line);
        }
    }

    std::vector<std::string> class_names() const {
        const auto count = static_cast<std::size_t>(format_.classes());
        if (count == cifar10_names.size()) return cifar10_names;
        if (names_.size() == count) return names_;
        std::vector<std::string> numbers;
        for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
        return numbers;
    }

    const CifarFormat& format_;
    std::int64_t train_limit_;
    std::int64_t test_limit_;
    std::stop_token stop_;
    LabelledImages train_{{3, 32, 32}, {}, {}};
    LabelledImages test_{{3, 32, 32}, {}, {}};
    std::vector<std::string> names_;
    bool python_ = false;  // an archive has parts of the Python version
    std::string archive_inside_;
};

/// Rejects data_batch_1 and data_batch_3 without data_batch_2: a file is missing. The first few
/// alone may be intended as a smaller set.
void refuse_gap(const std::vector<DataFile>& files, const CifarFormat& format) {
    const std::string stem = "data_batch_";
    std::set<int> numbers;
    for (const auto& file : files) {
        const std::string_view name = file.name;
        if (!name.starts_with(stem)) continue;
        int number = 0;
        const auto read =
            std::from_chars(name.data() + stem.size(), name.data() + name.size(), number);
        if (read.ec == std::errc{}) numbers.insert(number);
    }
    for (int i = 1; !numbers.empty() && i < *numbers.rbegin(); ++i) {
        if (numbers.contains(i)) continue;
        throw Error(
            ErrorCode::data,
            msg("{}: {}{}.bin is missing", files.front().path.parent_path().string(), stem, i),
            where_to_get(wanted_cifar(format)));
    }
}

std::vector<DataFile> find_files(const DatasetConfig& config, const CifarFormat& format) {
    try {
        return find_data_files(config.path, wanted_cifar(format));
    } catch (const Error&) {
        for (const std::string& path : config.path)
            if (holds_python_version(path, format)) refuse_python_version(path, format);
        throw;
    }
}

}  // namespace

Wanted wanted_cifar(const CifarFormat& format) {
    const bool ten = is_cifar10(format);
    return {
        .accepts =
            [](const std::string& name) { return is_cifar_train(name) || is_cifar_test(name); },
        .inside = ten ? std::vector<std::string>{"cifar-10-batches-bin", "cifar-10-binary.tar.gz"}
                      : std::vector<std::string>{"cifar-100-binary", "cifar-100-binary.tar.gz"},
        .archives = true,
        .copies = true,
        .title = format.title,
        .looked_for =
            ten ? "data_batch_1.bin to data_batch_5.bin and test_batch.bin (plain, .gz or "
                  ".xz), or cifar-10-binary.tar.gz"
                : "train.bin and test.bin (plain, .gz or .xz, also in parts), or "
                  "cifar-100-binary.tar.gz",
        .page = cifar_page};
}

DataParts open_cifar(const DatasetConfig& config, const std::stop_token& stop) {
    const CifarFormat& format = config.kind == "cifar10" ? cifar10_format() : cifar100_format();
    CifarReader reader(format, config, stop);
    const auto files = find_files(config, format);
    refuse_gap(files, format);
    for (const auto& file : files) {
        if (file.archive) {
            reader.add_archive(file.path);
        } else {
            reader.add_file(file);
        }
    }
    return reader.finish(config.path.front());
}

namespace {

DataParts open_cifar_kind(const DatasetConfig& config, std::int64_t, const std::stop_token& stop) {
    return open_cifar(config, stop);
}

Schema cifar_schema(const CifarFormat& format) {
    return classified_images({3, 32, 32}, {},
                             std::vector<std::string>(static_cast<std::size_t>(format.classes())));
}

}  // namespace

DatasetDescriptor cifar10_descriptor() {
    return {
        .kind = "cifar10",
        .title = "CIFAR-10",
        .summary = "60,000 photographs in ten classes, 32 x 32 in colour.",
        .needs =
            "The folder of the binary version (data_batch_1.bin and so on, also .gz or .xz), or "
            "cifar-10-binary.tar.gz.",
        .files =
            "data_batch_1.bin to data_batch_5.bin and test_batch.bin, or "
            "cifar-10-binary.tar.gz",
        .page = cifar_page,
        .unit = "images",
        .augments = true,
        .options = image_options(3),
        .schema = [](const DatasetConfig&) { return cifar_schema(cifar10_format()); },
        .open = open_cifar_kind};
}

DatasetDescriptor cifar100_descriptor() {
    return {.kind = "cifar100",
            .title = "CIFAR-100",
            .summary = "60,000 photographs in a hundred classes, 32 x 32 in colour.",
            .needs =
                "The folder of the binary version (train.bin and test.bin, also .gz, .xz or in "
                "parts), "
                "or cifar-100-binary.tar.gz.",
            .files = "train.bin and test.bin, or cifar-100-binary.tar.gz",
            .page = cifar_page,
            .unit = "images",
            .augments = true,
            .options = image_options(3),
            .schema = [](const DatasetConfig&) { return cifar_schema(cifar100_format()); },
            .open = open_cifar_kind};
}

}  // namespace engine
