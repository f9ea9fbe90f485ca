#include "data/data_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string_view>

#include "base/text_utf8.h"
#include "data/byte_reader.h"
#include "engine/base/error.h"
#include "io/zip/zip.h"

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

/// Endings of browsers and download tools for what has not arrived whole.
constexpr std::array<std::string_view, 9> unfinished_endings{
    ".crdownload", ".part",  ".partial",  ".download", ".opdownload",
    ".tmp",        ".aria2", ".filepart", ".!ut"};

bool is_hidden(const fs::path& file) { return file.filename().native().starts_with('.'); }

bool is_unfinished(const fs::path& file) {
    const std::string name = in_lower_case(file.filename().string());
    return std::any_of(unfinished_endings.begin(), unfinished_endings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The name without what file managers and browsers add to a second copy: " (1)", " - copy".
std::string without_copy_mark(std::string name) {
    for (const std::string_view mark : {" - copy", " copy"})
        if (const auto at = name.find(mark); at != std::string::npos) name.erase(at, mark.size());
    const std::size_t open = name.find(" (");
    if (open == std::string::npos) return name;
    const std::size_t close = name.find_first_not_of("0123456789", open + 2);
    if (close != std::string::npos && close > open + 2 && name[close] == ')')
        name.erase(open, close + 1 - open);
    return name;
}

std::string recognised_as(const fs::path& file, const Wanted& wanted) {
    const std::string name = in_lower_case(file.filename().string());
    return recognition_name(wanted.copies ? without_copy_mark(name) : name);
}

bool is_zip_file(const fs::path& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return false;
    std::array<char, 4> start{};
    std::ifstream(file, std::ios::binary).read(start.data(), start.size());
    return start == std::array<char, 4>{'P', 'K', '\3', '\4'};
}

/// Nothing was found: names what lies there instead, an unfinished download or a zip archive.
[[noreturn]] void refuse_none_found(const fs::path& path, const Wanted& wanted) {
    std::error_code ignored;
    const fs::path folder = fs::is_directory(path, ignored) ? path : path.parent_path();
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const fs::path& file = entry.path();
        if (is_hidden(file)) continue;
        if (is_unfinished(file) && wanted.accepts(recognition_name(file.stem().string()))) {
            throw Error(ErrorCode::data,
                        msg("{}: no {} files here, but an unfinished download: {}", path.string(),
                            wanted.title, file.filename().string()),
                        where_to_get(wanted));
        }
        if (is_zip_file(file)) {
            throw Error(ErrorCode::data,
                        msg("{}: no {} files here, but a zip archive: {}", path.string(),
                            wanted.title, file.filename().string()),
                        msg("Unpack it first. Looked for {}.", wanted.looked_for));
        }
    }
    throw Error(ErrorCode::data, msg("{}: no {} files here", path.string(), wanted.title),
                where_to_get(wanted));
}

/// Accepted files directly in a folder.
std::vector<DataFile> list_folder(const fs::path& folder, const Wanted& wanted) {
    std::vector<DataFile> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored)) continue;
        if (is_hidden(entry.path()) || is_unfinished(entry.path())) continue;
        DataFile file{entry.path(), recognised_as(entry.path(), wanted)};
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
        DataFile file{path, recognised_as(path, wanted)};
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

/// A format of another program, by the first bytes of a file.
struct OtherFormat {
    std::string_view magic;
    const char* name;
    const char* reader;  ///< of pandas
};

constexpr std::array<OtherFormat, 6> other_formats{{
    {"PAR1", "Parquet", "read_parquet"},
    {"ARROW1", "Arrow", "read_feather"},
    {"FEA1", "Feather", "read_feather"},
    {"ORC", "ORC", "read_orc"},
    {"\x89HDF\r\n", "HDF5", "read_hdf"},
    {"\xD0\xCF\x11\xE0\xA1\xB1", "Excel", "read_excel"},
}};
constexpr OtherFormat workbook{{}, "Excel", "read_excel"};
constexpr OtherFormat open_document{{}, "OpenDocument", "read_excel"};

/// Null for any other file.
const OtherFormat* other_format(const fs::path& file) {
    std::array<char, 512> start{};
    std::ifstream in(file, std::ios::binary);
    in.read(start.data(), start.size());
    const std::string_view bytes(start.data(), static_cast<std::size_t>(in.gcount()));
    // A column may be called PAR1, but text has no such control characters.
    const bool binary =
        std::any_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0 && c < '\t'; });
    for (const auto& format : other_formats) {
        if (binary && bytes.starts_with(format.magic)) return &format;
    }
    if (!is_zip(file)) return nullptr;
    ZipReader zip(file);
    while (const ZipEntry* entry = zip.next()) {
        if (entry->name.starts_with("xl/")) return &workbook;
        if (entry->name == "content.xml") return &open_document;
    }
    return nullptr;
}

}  // namespace

std::string in_lower_case(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

std::string recognition_name(const std::string& file_name) {
    std::string name = in_lower_case(file_name);
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

Message where_to_get(const Wanted& wanted) {
    if (wanted.page.empty()) return msg("Looked for {}.", wanted.looked_for);
    return msg("Looked for {}. The official page is {}.", wanted.looked_for, wanted.page);
}

namespace {

Message where_to_look(const Wanted& wanted) {
    if (wanted.page.empty())
        return msg("Set dataset.path to the folder with {}.", wanted.looked_for);
    return msg("Set dataset.path to the folder with {}. The official page is {}.",
               wanted.looked_for, wanted.page);
}

}  // namespace

std::vector<DataFile> find_data_files(const std::vector<std::string>& paths, const Wanted& wanted) {
    if (paths.empty()) {
        throw Error(ErrorCode::data, msg("{}: no path is given", wanted.title),
                    where_to_look(wanted));
    }
    std::vector<DataFile> files;
    for (const auto& path : paths) {
        std::error_code error;
        if (!fs::exists(path, error)) {
            throw Error(ErrorCode::data,
                        error ? msg("{}: cannot be read: {}", path, error.message())
                              : msg("{}: no such file or folder", path),
                        where_to_look(wanted));
        }
        if (!fs::is_directory(path, error) && !fs::is_regular_file(path, error)) {
            throw Error(ErrorCode::data, msg("{}: neither a file nor a folder", path),
                        where_to_look(wanted));
        }
        if (is_zip_file(path)) {
            throw Error(ErrorCode::data, msg("{}: a zip archive", path),
                        msg("Unpack it first. Looked for {}.", wanted.looked_for));
        }
        const bool archive = wanted.archives && is_archive(path);
        const bool alone = paths.size() == 1 && !fs::is_directory(path, error) && !archive;
        const fs::path folder = alone ? fs::absolute(path).parent_path() : fs::path(path);
        for (auto& file : list_path(folder, wanted)) files.push_back(std::move(file));
    }
    if (files.empty()) refuse_none_found(paths.front(), wanted);
    return files;
}

bool is_other_table(const fs::path& file) { return other_format(file) != nullptr; }

void refuse_other_tables(const fs::path& file) {
    const OtherFormat* format = other_format(file);
    if (format == nullptr) return;
    const Message what =
        msg("{}: a file in the format of {}, not a CSV file", file.string(), format->name);
    if (std::string_view(format->reader) == "read_excel") {
        throw Error(ErrorCode::data, what,
                    msg("Open it in a spreadsheet program and save the sheet as CSV, with UTF-8 "
                        "encoding."));
    }
    const std::string name = file.filename().string(), csv = file.stem().string() + ".csv";
    throw Error(ErrorCode::data, what,
                msg("Save it as CSV, in Python with pandas: "
                    "pandas.{}(\"{}\").to_csv(\"{}\", index=False)",
                    format->reader, name, csv));
}

std::int64_t largest_dataset_bytes() {
    const std::int64_t memory =
        static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    return std::min(std::int64_t{8} << 30, std::max(memory / 2, std::int64_t{1} << 30));
}

}  // namespace engine
