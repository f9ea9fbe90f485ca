#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/json_reader.h"
#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/dataset_descriptor.h"
#include "data/image/cifar.h"
#include "data/image/idx.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"
#include "record/record_layout.h"
#include "runs/foreign_log.h"
#include "runs/run_folder.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t recognised_bytes = std::size_t{32} * 3074;

std::vector<std::uint8_t> beginning(ByteReader& reader, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    bytes.resize(reader.read(bytes));
    return bytes;
}

/// The files that a path stands for; none if it holds no such data, or is a file of another name.
std::vector<DataFile> data_files(const fs::path& path, const Wanted& wanted) {
    const bool accepted = fs::is_directory(path) || (wanted.archives && is_archive(path)) ||
                          wanted.accepts(recognition_name(path.filename().string()));
    if (!accepted) return {};
    try {
        return find_data_files({path.string()}, wanted);
    } catch (const Error&) {
        return {};
    }
}

std::string cifar_kind(const std::string& name, std::span<const std::uint8_t> bytes) {
    const bool ten = could_be(cifar10_format(), bytes);
    const bool hundred = could_be(cifar100_format(), bytes);
    // Dark corners may pass for labels in a file of a record or two: then the name decides.
    const bool says_ten = hundred ? ten && name.starts_with("data_batch") : ten;
    return says_ten ? cifar10_format().kind : hundred ? cifar100_format().kind : "";
}

std::string recognise_cifar(const fs::path& path, const CifarFormat& format) {
    const auto files = data_files(path, wanted_cifar(format));
    if (files.empty()) return "";
    const DataFile& file = files.front();
    std::string kind;
    if (!file.archive)
        return cifar_kind(file.name, beginning(*open_packed(file.path), recognised_bytes));
    for_each_entry(file.path, [&](const std::string& entry, ByteReader& reader) {
        const std::string name = recognition_name(entry);
        if (!is_cifar_train(name) && !is_cifar_test(name)) return true;
        kind = cifar_kind(name, beginning(reader, recognised_bytes));
        return false;
    });
    return kind;
}

bool begins_with_idx_magic(const DataFile& file) {
    const auto bytes = beginning(*open_packed(file.path), 4);
    const std::uint8_t rank = is_idx_images(file.name) ? 3 : 1;
    return bytes == std::vector<std::uint8_t>{0, 0, 8, rank};
}

/// MNIST and Fashion-MNIST have the same form. The official files are recognised by their first
/// labels, others by the name of their folder.
std::string idx_kind(const std::vector<DataFile>& files) {
    using Labels = std::array<std::uint8_t, 10>;
    constexpr std::array<Labels, 2> mnist = {
        {{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}, {7, 2, 1, 0, 4, 1, 4, 9, 5, 9}}};
    constexpr std::array<Labels, 2> fashion = {
        {{9, 0, 0, 3, 0, 2, 7, 2, 5, 5}, {9, 2, 1, 1, 6, 1, 4, 6, 5, 7}}};
    for (const auto& file : files) {
        if (is_idx_images(file.name)) continue;
        const auto bytes = beginning(*open_packed(file.path), 18);
        if (bytes.size() < 18) continue;
        for (std::size_t set = 0; set < 2; ++set) {
            if (std::equal(mnist[set].begin(), mnist[set].end(), bytes.begin() + 8))
                return mnist_kind;
            if (std::equal(fashion[set].begin(), fashion[set].end(), bytes.begin() + 8)) {
                return fashion_mnist_kind;
            }
        }
    }
    const std::string folder =
        recognition_name(fs::absolute(files.front().path).parent_path().string());
    const bool says_mnist = folder.find("mnist") != std::string::npos;
    return says_mnist && folder.find("fashion") == std::string::npos ? mnist_kind
                                                                     : fashion_mnist_kind;
}

std::string recognise_idx(const fs::path& path) {
    const auto files = data_files(path, wanted_idx());
    if (files.empty() || !begins_with_idx_magic(files.front())) return "";
    return idx_kind(files);
}

/// A JSON object with at least one of the fields of RunConfig.
bool is_settings(const fs::path& path) {
    const auto json = read_json_file(path, settings_bounds);
    if (!json.is_object()) return false;
    static const RunConfig defaults;
    const auto fields = nlohmann::json::parse(to_json(defaults));
    return std::any_of(fields.items().begin(), fields.items().end(),
                       [&](const auto& field) { return json.contains(field.key()); });
}

bool is_run(const fs::path& path) {
    return fs::is_regular_file(path / config_file) &&
           fs::is_regular_file(path / record_layout::file_name);
}

}  // namespace

std::string recognise_path(const std::string& path) {
    try {
        if (!fs::exists(path)) return "";
        if (is_run(path)) return "run";
        if (has_event_files(path)) return "log";
        if (is_settings(path)) return "settings";
        for (const auto* format : {&cifar100_format(), &cifar10_format()}) {
            if (std::string kind = recognise_cifar(path, *format); !kind.empty()) return kind;
        }
        if (std::string kind = recognise_idx(path); !kind.empty()) return kind;
        for (const DatasetDescriptor& set : datasets()) {
            if (set.recognise != nullptr && set.recognise(path)) return set.kind;
        }
        return "";
    } catch (const Error&) {
        return "";  // damaged
    } catch (const fs::filesystem_error&) {
        return "";  // not readable
    }
}

}  // namespace engine
