#include "data/data_fingerprint.h"

#include <lzma.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.h"
#include "base/text_utf8.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "io/file/atomic_file.h"
#include "io/file/line_reader.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char fingerprint_file[] = "data.jsonl";
constexpr std::int64_t fingerprint_version = 1;
constexpr std::size_t max_mark_bytes = 64 << 10;  // bytes of a line

/// The checksum of a file's first bytes, unpacked; of all with `most` -1.
void hash_file(FileMark& mark, std::int64_t most, const std::stop_token& stop) {
    // As a part of no data set.
    const ReadFilesScope none(nullptr);
    mark.hashed = 0;
    mark.hash = 0;
    if (mark.size == 0) return;  // an empty file is refused by its reader
    const auto reader = open_packed(mark.path, {.stop = stop});
    std::vector<std::uint8_t> block(std::size_t{1} << 18);
    for (bool ended = false; !ended;) {
        const auto left = most < 0 ? std::ssize(block) : most - mark.hashed;
        const auto ask = static_cast<std::size_t>(std::min<std::int64_t>(left, std::ssize(block)));
        const std::size_t got = ask == 0 ? 0 : reader->read(std::span(block).first(ask));
        mark.hash = content_hash(mark.hash, block.data(), got);
        mark.hashed += static_cast<std::int64_t>(got);
        ended = got < block.size();
    }
}

std::string hexadecimal(std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

/// A name that is no UTF-8 does not fit into JSON.
std::string percent_encoded(const std::string& name) {
    std::string out;
    for (const char c : name) {
        char text[4];
        std::snprintf(text, sizeof text, "%%%02X", static_cast<unsigned char>(c));
        out += (static_cast<unsigned char>(c) & 0x80) != 0 || c == '%' ? text : std::string(1, c);
    }
    return out;
}

[[noreturn]] void throw_damaged_fingerprint(const fs::path& file) {
    throw Error(ErrorCode::data, msg("{}: damaged", file.string()),
                msg("Remove the file: without it, columns, classes and numbers of samples are "
                    "compared."));
}

std::int64_t parse_count(const json& value) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
        throw std::invalid_argument("no count");
    return value.get<std::int64_t>();
}

FileMark parse_mark(const json& line) {
    if (!line.is_array() || line.size() < 3) throw std::invalid_argument("no file");
    FileMark mark{line.at(0).get<std::string>(), parse_count(line.at(1)),
                  line.at(2).get<std::int64_t>()};
    if (line.size() < 5) return mark;
    mark.hashed = parse_count(line.at(3));
    const auto hash = to_number<decltype(mark.hash)>(line.at(4).get_ref<const std::string&>(), 16);
    if (!hash) throw std::invalid_argument("no checksum");
    mark.hash = *hash;
    return mark;
}

DataFingerprint fingerprint_in(const fs::path& file) {
    DataFingerprint out;
    LineReader lines(file, max_mark_bytes);
    std::int64_t read = 0;
    for (std::string line; lines.next(line);) {
        // Lines that are too long are passed over, and counted.
        if (lines.count() != ++read) break;
        const json object = read_json(line, {.bytes = max_mark_bytes});
        if (read > 1) {
            out.files.push_back(parse_mark(object));
            continue;
        }
        if (parse_count(object.at("version")) > fingerprint_version)
            throw std::invalid_argument("of a later version");
        out.train = parse_count(object.at("train"));
        out.validation = parse_count(object.at("validation"));
        out.test = parse_count(object.at("test"));
    }
    if (read == 0 || lines.count() != read) throw std::invalid_argument("empty or too long");
    return out;
}

/// "2 files changed (a.png, b.png)"; the parts of a sentence.
void add_files(std::string& text, const std::vector<std::string>& names, const char* one,
               const char* many) {
    constexpr std::size_t most = 3;
    if (names.empty()) return;
    text += text.empty() ? "" : "; ";
    text += std::to_string(names.size()) + (names.size() == 1 ? one : many) + " (";
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    text += names.size() > most ? ", ...)" : ")";
}

enum class Sameness { same, other, unknown };

Sameness compare_file(const FileMark& kept, FileMark& now, const std::stop_token& stop) {
    const bool untouched = kept.size == now.size && kept.time == now.time;
    if (kept.has_hash() && (now.has_hash() || !untouched)) {
        // A file of another size has other contents, so it need not be read.
        if (!now.has_hash() && kept.hashed == kept.size && now.size != kept.size)
            return Sameness::other;
        if (!now.has_hash()) hash_file(now, kept.hashed, stop);
        return now.hashed == kept.hashed && now.hash == kept.hash ? Sameness::same
                                                                  : Sameness::other;
    }
    if (untouched) {
        now.hashed = kept.hashed;
        now.hash = kept.hash;
        return Sameness::same;
    }
    return kept.size == now.size ? Sameness::unknown : Sameness::other;
}

}  // namespace

std::uint64_t content_hash(std::uint64_t hash, const void* bytes, std::size_t count) {
    return lzma_crc64(static_cast<const std::uint8_t*>(bytes), count, hash);
}

std::string ReadFiles::name_of(const fs::path& file) const {
    const std::string& path = file.native();
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        std::string_view root = paths_[i];
        while (root.size() > 1 && root.ends_with('/')) root.remove_suffix(1);
        const bool below = path.size() > root.size() && path.starts_with(root) &&
                           (path[root.size()] == '/' || root == "/");
        if (path == root || path == paths_[i]) return std::to_string(i);
        if (below) {
            const std::size_t rest = path.find_first_not_of('/', root.size());
            return std::to_string(i) + '/' + path.substr(std::min(rest, path.size()));
        }
    }
    // A file of a set stands for the folder in which it lies.
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        if (file.parent_path() == fs::path(paths_[i]).parent_path())
            return std::to_string(i) + "/../" + file.filename().string();
    }
    return path;
}

fs::path ReadFiles::path_of(std::size_t file) const {
    if (const auto odd = odd_paths_.find(file); odd != odd_paths_.end()) return odd->second;
    const std::string& name = marks_[file].name;
    std::size_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stopped, error] = std::from_chars(name.data(), end, number);
    if (error != std::errc() || number >= paths_.size()) return name;
    const fs::path root = paths_[number];
    const std::string rest(stopped, end);
    if (rest.empty()) return root;
    return rest.starts_with("/../") ? root.parent_path() / rest.substr(4) : root / rest.substr(1);
}

std::size_t ReadFiles::add(const fs::path& file) {
    FileMark mark{.name = name_of(file)};
    const bool is_odd = first_bad_byte(mark.name) != mark.name.size();
    if (is_odd) mark.name = percent_encoded(mark.name);
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0) {
        mark.size = status.st_size;
        mark.time = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    }
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = numbers_.emplace(mark.name, marks_.size());
    if (is_new) {
        if (is_odd) odd_paths_.emplace(marks_.size(), file);
        marks_.push_back(std::move(mark));
    }
    return at->second;
}

void ReadFiles::add_hash(std::size_t file, std::int64_t bytes, std::uint64_t hash) {
    const std::lock_guard lock(mutex_);
    FileMark& mark = marks_[file];
    if (bytes <= mark.hashed) return;
    if (!mark.has_hash()) ++hashes_;
    mark.hashed = bytes;
    mark.hash = hash;
}

bool ReadFiles::has_hash(std::size_t file) const {
    const std::lock_guard lock(mutex_);
    return marks_[file].has_hash();
}

std::int64_t ReadFiles::hash_count() const {
    const std::lock_guard lock(mutex_);
    return hashes_;
}

void ReadFiles::add_unread(const std::stop_token& stop) {
    for (const std::string& path : paths_) {
        std::error_code error;
        if (!fs::is_regular_file(path, error)) continue;
        {
            const std::lock_guard lock(mutex_);
            if (numbers_.contains(name_of(path))) continue;
        }
        const std::size_t number = add(path);
        FileMark mark = marks()[number];
        hash_file(mark, -1, stop);
        add_hash(number, mark.hashed, mark.hash);
    }
}

std::vector<FileMark> ReadFiles::marks() const {
    const std::lock_guard lock(mutex_);
    std::vector<FileMark> out = marks_;
    for (std::size_t i = 0; i < out.size(); ++i) out[i].path = path_of(i);
    return out;
}

void write_data_fingerprint(const fs::path& run_folder, const DataFingerprint& data) {
    constexpr auto replace = json::error_handler_t::replace;
    std::string text = json{{"version", fingerprint_version},
                            {"train", data.train},
                            {"validation", data.validation},
                            {"test", data.test}}
                           .dump() +
                       '\n';
    for (const FileMark& mark : data.files) {
        json line = {mark.name, mark.size, mark.time};
        if (mark.has_hash()) {
            line.push_back(mark.hashed);
            line.push_back(hexadecimal(mark.hash));
        }
        text += line.dump(-1, ' ', false, replace) + '\n';
    }
    write_file(run_folder / fingerprint_file, text);
}

std::optional<DataFingerprint> read_data_fingerprint(const fs::path& run_folder) {
    const fs::path file = run_folder / fingerprint_file;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return std::nullopt;
    try {
        return fingerprint_in(file);
    } catch (const json::exception&) {
    } catch (const std::invalid_argument&) {
    }
    throw_damaged_fingerprint(file);
}

std::string DataChange::text() const {
    std::string out;
    add_files(out, changed, " file changed", " files changed");
    add_files(out, gone, " file is gone", " files are gone");
    add_files(out, added, " file is new", " files are new");
    add_files(out, unknown,
              " file has another time, and the run ended before it had a checksum of it",
              " files have another time, and the run ended before it had checksums of them");
    return out;
}

DataChange compare_data(const DataFingerprint& kept, std::vector<FileMark>& now,
                        const std::stop_token& stop) {
    std::map<std::string_view, const FileMark*> before;
    for (const FileMark& mark : kept.files) before.emplace(mark.name, &mark);
    DataChange out;
    for (FileMark& mark : now) {
        if (stop.stop_requested()) throw ReadingStopped{};
        const std::string shown = mark.path.filename().string();
        const auto found = before.find(mark.name);
        if (found == before.end()) {
            out.added.push_back(shown);
            continue;
        }
        const Sameness sameness = compare_file(*found->second, mark, stop);
        if (sameness == Sameness::other) out.changed.push_back(shown);
        if (sameness == Sameness::unknown) out.unknown.push_back(shown);
        before.erase(found);
    }
    for (const auto& [name, mark] : before)
        out.gone.push_back(fs::path(std::string(name)).filename().string());
    return out;
}

}  // namespace engine
