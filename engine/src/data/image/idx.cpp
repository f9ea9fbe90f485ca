#include "data/image/idx.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <map>
#include <sstream>

#include "base/text_utf8.h"
#include "data/data_files.h"
#include "data/dataset_descriptor.h"
#include "data/image/image_transforms.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t image_side = 28;
constexpr std::int64_t class_count = 10;
constexpr const char* idx_files =
    "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte";
constexpr const char* mnist_page = "http://yann.lecun.com/exdb/mnist/";
constexpr const char* fashion_mnist_page = "https://github.com/zalandoresearch/fashion-mnist";

[[noreturn]] void refuse_idx(Message message) {
    throw Error(
        ErrorCode::data, std::move(message),
        msg("Get the four files again: images and labels, of the training and of the test set."));
}

std::string hex(std::span<const std::uint8_t> bytes) {
    std::ostringstream out;
    out << std::hex << std::setfill('0');
    for (const auto byte : bytes)
        out << (byte == bytes.front() && out.tellp() == 0 ? "" : " ") << std::setw(2) << int{byte};
    return out.str();
}

/// Refuses all but unsigned bytes in `rank` dimensions.
void check_magic(const std::string& file, const std::array<std::uint8_t, 4>& magic, int rank) {
    if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0) {
        refuse_idx(msg("{}: not an IDX file: it begins with {}, not with 00 00 08 0{}", file,
                       hex(magic), rank));
    }
    if (magic[2] != 8) {
        refuse_idx(msg("{}: its numbers are of IDX type {}, not bytes (08)", file,
                       hex(std::span(magic).subspan(2, 1))));
    }
    if (magic[3] == rank) return;
    if (magic[3] == 1 && rank == 3)
        refuse_idx(msg("{}: contains labels; images are expected", file));
    if (magic[3] == 3 && rank == 1)
        refuse_idx(msg("{}: contains images; labels are expected", file));
    refuse_idx(msg("{}: an IDX file of {} dimensions; {} are expected", file, int{magic[3]}, rank));
}

/// Sizes in the header, the count of samples first.
std::vector<std::int64_t> read_header(const std::string& file, ByteReader& reader, int rank) {
    std::array<std::uint8_t, 4> word{};
    if (reader.read(word) < word.size())
        refuse_idx(msg("{}: cut short: it ends in its header", file));
    check_magic(file, word, rank);
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < rank; ++i) {
        if (reader.read(word) < word.size())
            refuse_idx(msg("{}: cut short: it ends in its header", file));
        std::int64_t size = 0;
        for (const auto byte : word) size = size << 8 | byte;
        sizes.push_back(size);
    }
    if (sizes[0] == 0) refuse_idx(msg("{}: holds no samples", file));
    if (sizes[0] > max_idx_samples) {
        refuse_idx(msg("{}: its header promises {} samples, more than the {} that a file may hold",
                       file, sizes[0], max_idx_samples));
    }
    return sizes;
}

/// Appends samples of `sample_bytes` each. Memory grows with the data that are read, not with the
/// count in the header.
std::int64_t append_samples(const std::string& file, ByteReader& reader, std::int64_t count,
                            std::int64_t sample_bytes, std::int64_t limit,
                            std::vector<std::uint8_t>& out) {
    const std::int64_t wanted = limit > 0 ? std::min(count, limit) : count;
    constexpr std::int64_t piece = std::int64_t{64} << 20;
    for (std::int64_t done = 0; done < wanted * sample_bytes;) {
        const auto ask = static_cast<std::size_t>(std::min(piece, wanted * sample_bytes - done));
        const std::size_t before = out.size();
        out.resize(before + ask);
        const std::size_t got = reader.read(std::span(out).subspan(before));
        done += static_cast<std::int64_t>(got);
        if (got < ask) {
            refuse_idx(msg("{}: cut short: its header promises {} samples and {} are there", file,
                           count, done / sample_bytes));
        }
    }
    std::array<std::uint8_t, 1> more{};
    if (wanted == count && reader.read(more) > 0) {
        refuse_idx(msg("{}: longer than the {} samples that its header promises", file, count));
    }
    return count;
}

ReadOptions options_for(std::int64_t sample_bytes, const std::stop_token& stop) {
    constexpr std::int64_t max_header_bytes = 16;
    return {static_cast<std::uint64_t>(max_header_bytes + max_idx_samples * sample_bytes), stop};
}

/// One of the two sets: its images and labels files, part by part.
LabelledImages read_set(const std::vector<DataFile>& files, bool train, std::int64_t limit,
                        const std::stop_token& stop) {
    std::vector<DataFile> images, labels;
    for (const auto& file : files) {
        if (is_idx_train(file.name) != train) continue;
        (is_idx_images(file.name) ? images : labels).push_back(file);
    }
    const std::string folder = files.front().path.parent_path().string();
    const char* set = train ? "train" : "t10k";
    if (images.empty())
        refuse_idx(msg("{}: no {}-images-idx3-ubyte file here (nor .gz)", folder, set));
    if (labels.empty())
        refuse_idx(msg("{}: no {}-labels-idx1-ubyte file here (nor .gz)", folder, set));
    if (images.size() != labels.size()) {
        refuse_idx(msg("{}: {} files of {} images and {} of labels: a part is missing", folder,
                       images.size(), set, labels.size()));
    }
    LabelledImages out{{1, image_side, image_side}, {}, {}};
    for (std::size_t i = 0; i < images.size() && (limit == 0 || out.size() < limit); ++i) {
        const std::int64_t left = limit == 0 ? 0 : limit - out.size();
        const auto image_count = append_idx_images(images[i].path, left, out, stop);
        const auto label_count = append_idx_labels(labels[i].path, left, class_count, out, stop);
        if (image_count != label_count) {
            refuse_idx(msg("{} has {} images and {} has {} labels: they do not belong together",
                           images[i].path.string(), image_count, labels[i].path.string(),
                           label_count));
        }
    }
    return out;
}

std::vector<std::string> names_of(const std::string& kind) {
    if (kind == mnist_kind) return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

std::int64_t append_idx_images(const fs::path& file, std::int64_t limit, LabelledImages& out,
                               const std::stop_token& stop) {
    const auto reader = open_packed(file, options_for(image_side * image_side, stop));
    const auto sizes = read_header(file.string(), *reader, 3);
    if (sizes[1] != image_side || sizes[2] != image_side) {
        refuse_idx(msg("{}: images of {} by {} pixels; 28 by 28 are expected", file.string(),
                       sizes[1], sizes[2]));
    }
    return append_samples(file.string(), *reader, sizes[0], image_side * image_side, limit,
                          out.pixels);
}

std::int64_t append_idx_labels(const fs::path& file, std::int64_t limit, std::int64_t classes,
                               LabelledImages& out, const std::stop_token& stop) {
    const auto reader = open_packed(file, options_for(1, stop));
    const auto sizes = read_header(file.string(), *reader, 1);
    const std::size_t before = out.labels.size();
    const auto count = append_samples(file.string(), *reader, sizes[0], 1, limit, out.labels);
    for (std::size_t i = before; i < out.labels.size(); ++i) {
        if (out.labels[i] < classes) continue;
        refuse_idx(msg("{}: label {} of sample {} is beyond the {} classes", file.string(),
                       int{out.labels[i]}, i - before, classes));
    }
    return count;
}

std::string idx_set(const std::string& name) {
    std::string left = name;
    for (const char* word :
         {"images", "labels", "idx3", "idx1", "ubyte", "train", "t10k", "test", "part"})
        if (const auto at = left.find(word); at != std::string::npos)
            left.replace(at, std::string_view(word).size(), "-");
    std::string out;
    for (const char c : left) {
        const bool parts_words = c == '-' || c == '_' || c == '.' || c == ' ';
        if (!parts_words && !is_digit(c))
            out += c;
        else if (!out.empty() && out.back() != '-')
            out += '-';
    }
    while (out.ends_with('-')) out.pop_back();
    return out;
}

bool is_idx_images(const std::string& name) { return contains(name, "images"); }
bool is_idx_train(const std::string& name) { return contains(name, "train"); }

Wanted wanted_idx() {
    return {.accepts =
                [](const std::string& name) {
                    const bool of_set =
                        contains(name, "train") || contains(name, "t10k") || contains(name, "test");
                    return of_set && contains(name, "ubyte") &&
                           (contains(name, "images") || contains(name, "labels"));
                },
            .inside = {"raw", "MNIST/raw", "FashionMNIST/raw"},
            .copies = true,
            .title = "MNIST",
            .looked_for = std::string(idx_files) + ", plain or .gz",
            .page = mnist_page};
}

namespace {

/// Keeps the files of one set: of the only one, or of the one that a single path names.
std::vector<DataFile> of_one_set(std::vector<DataFile> files,
                                 const std::vector<std::string>& paths) {
    std::map<std::string, std::string> sets;  // and the first file of each
    for (const DataFile& file : files)
        sets.emplace(idx_set(file.name), file.path.filename().string());
    if (sets.size() < 2) return files;
    const auto named = std::ranges::find(files, fs::path(paths.front()).filename(),
                                         [](const DataFile& file) { return file.path.filename(); });
    if (paths.size() == 1 && named != files.end()) {
        const std::string chosen = idx_set(named->name);
        std::erase_if(files, [&](const DataFile& file) { return idx_set(file.name) != chosen; });
        return files;
    }
    const std::string names = join(sets, ", ", [](const auto& each) {
        return each.first.empty() ? each.second : each.first;
    });
    throw Error(ErrorCode::data, msg("{}: holds several data sets: {}", paths.front(), names),
                msg("Set dataset.path to one file of the set to read, or to a folder with that set "
                    "alone."));
}

}  // namespace

DataParts open_idx(const DatasetConfig& config, const std::stop_token& stop) {
    Wanted wanted = wanted_idx();
    if (config.kind == fashion_mnist_kind) {
        wanted.title = "Fashion-MNIST";
        wanted.page = fashion_mnist_page;
    }
    const auto files = of_one_set(find_data_files(config.path, wanted), config.path);
    LabelledImages train = read_set(files, true, config.train_limit, stop);
    LabelledImages test = read_set(files, false, config.test_limit, stop);
    return make_image_datasets(std::move(train), std::move(test), names_of(config.kind));
}

namespace {

DataParts open_idx_kind(const DatasetConfig& config, std::int64_t, const std::stop_token& stop) {
    return open_idx(config, stop);
}

Schema idx_schema(const DatasetConfig& config) {
    return classified_images({1, 28, 28}, {}, names_of(config.kind));
}

DatasetDescriptor idx_descriptor(std::string kind, std::string title, std::string summary,
                                 std::string page, bool augments) {
    return {.kind = std::move(kind),
            .title = std::move(title),
            .summary = std::move(summary),
            .needs =
                "The folder with the four IDX files (train-images-idx3-ubyte and so on, plain or "
                ".gz).",
            .files = idx_files,
            .page = std::move(page),
            .unit = "images",
            .augments = augments,
            .options = image_options(1),
            .schema = idx_schema,
            .open = open_idx_kind};
}

}  // namespace

DatasetDescriptor mnist_descriptor() {
    return idx_descriptor(mnist_kind, "MNIST", "70,000 handwritten digits, 28 x 28 grey.",
                          mnist_page, false);
}

DatasetDescriptor fashion_mnist_descriptor() {
    return idx_descriptor(fashion_mnist_kind, "Fashion-MNIST",
                          "70,000 pictures of clothes, 28 x 28 grey.", fashion_mnist_page, true);
}

}  // namespace engine
