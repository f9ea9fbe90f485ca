#include "data/data_files.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/characters.h"
#include "data/byte_reader.h"
#include "engine/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// The number at the front of `text`, as its digits without leading zeros; removed from `text`.
std::string_view take_number(std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

/// Accepted files directly in a folder.
std::vector<DataFile> list_folder(const fs::path& folder, const Wanted& wanted) {
    std::vector<DataFile> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored)) continue;
        DataFile file{entry.path(), recognition_name(entry.path().filename().string())};
        if (wanted.accepts(file.name)) files.push_back(std::move(file));
    }
    if (error) {
        throw Error(ErrorCode::data,
                    msg("{}: cannot be read: {}", folder.string(), error.message()),
                    msg("Check the permissions of the folder."));
    }
    // The shorter path of two twins is the plain one: it comes first, and the other goes.
    std::sort(files.begin(), files.end(), [](const DataFile& a, const DataFile& b) {
        if (a.name != b.name) return name_before(a.name, b.name);
        return a.path.native().size() < b.path.native().size();
    });
    const auto twins = std::unique(files.begin(), files.end(),
                                   [](const auto& a, const auto& b) { return a.name == b.name; });
    files.erase(twins, files.end());
    return files;
}

std::vector<DataFile> list_path(const fs::path& path, const Wanted& wanted) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        DataFile file{path, recognition_name(path.filename().string())};
        file.archive = wanted.archives && is_archive(path);
        if (!file.archive && !wanted.accepts(file.name)) return {};
        return {file};
    }
    std::vector<DataFile> files = list_folder(path, wanted);
    for (std::size_t i = 0; files.empty() && i < wanted.inside.size(); ++i) {
        const fs::path inner = path / wanted.inside[i];
        if (fs::exists(inner, ignored)) files = list_path(inner, wanted);
    }
    return files;
}

}  // namespace

std::string recognition_name(const std::string& file_name) {
    std::string name = file_name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.ends_with(".gz") || name.ends_with(".xz")) name.resize(name.size() - 3);
    return name;
}

bool name_before(const std::string& a, const std::string& b) {
    // Without what follows the dot, so that train.bin comes before train-part2.bin.
    std::string_view left = std::string_view(a).substr(0, a.find('.'));
    std::string_view right = std::string_view(b).substr(0, b.find('.'));
    while (!left.empty() && !right.empty()) {
        if (is_digit(left.front()) && is_digit(right.front())) {
            const auto m = take_number(left);
            const auto n = take_number(right);
            if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
        } else {
            if (left.front() != right.front()) return left.front() < right.front();
            left.remove_prefix(1);
            right.remove_prefix(1);
        }
    }
    if (left.empty() != right.empty()) return left.empty();
    return a < b;
}

std::vector<DataFile> find_data_files(const std::vector<std::string>& paths, const Wanted& wanted) {
    if (paths.empty()) {
        throw Error(ErrorCode::data, msg("{}: no path is given", wanted.title),
                    msg("Set dataset.path to the folder with {}.", wanted.looked_for));
    }
    std::vector<DataFile> files;
    for (const auto& path : paths) {
        std::error_code error;
        if (!fs::exists(path, error)) {
            throw Error(ErrorCode::data,
                        error ? msg("{}: cannot be read: {}", path, error.message())
                              : msg("{}: no such file or folder", path),
                        msg("Set dataset.path to the folder with {}.", wanted.looked_for));
        }
        if (!fs::is_directory(path, error) && !fs::is_regular_file(path, error)) {
            throw Error(ErrorCode::data, msg("{}: neither a file nor a folder", path),
                        msg("Set dataset.path to the folder with {}.", wanted.looked_for));
        }
        const bool archive = wanted.archives && is_archive(path);
        const bool alone = paths.size() == 1 && !fs::is_directory(path, error) && !archive;
        const fs::path folder = alone ? fs::absolute(path).parent_path() : fs::path(path);
        for (auto& file : list_path(folder, wanted)) files.push_back(std::move(file));
    }
    if (files.empty()) {
        throw Error(ErrorCode::data, msg("{}: no {} files here", paths.front(), wanted.title),
                    msg("Looked for {}.", wanted.looked_for));
    }
    return files;
}

}  // namespace engine
