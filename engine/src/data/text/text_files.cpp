#include "data/text/text_files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text_utf8.h"
#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

// "val" stands for "valid" too.
constexpr std::array<const char*, 3> part_words{"train", "val", "test"};
constexpr std::array<std::string_view, 4> text_extensions{".txt", ".text", ".tokens", ".raw"};

bool has_text_extension(const std::string& name) {
    return std::any_of(text_extensions.begin(), text_extensions.end(),
                       [&](std::string_view extension) { return name.ends_with(extension); });
}

bool name_contains(const std::string& name, const char* word) {
    return name.find(word) != std::string::npos;
}

bool names_a_part(const std::string& name) {
    return std::any_of(part_words.begin(), part_words.end(),
                       [&](const char* word) { return name_contains(name, word); });
}

/// Also "wiki.train", whose last dot begins no extension.
bool is_part_name(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const bool plain = dot == std::string::npos || names_a_part(name.substr(dot));
    return names_a_part(name) && (plain || has_text_extension(name));
}

Wanted wanted_text() {
    return {
        .accepts = is_part_name,
        .inside = {},
        .title = "text",
        .looked_for = "train.txt, valid.txt and test.txt (also .text, .tokens, .raw, .gz, .xz)"};
}

[[noreturn]] void refuse_files(Message message) {
    throw Error(ErrorCode::data, std::move(message),
                msg("Give a folder with one text file for each part, or a single text file."));
}

/// The one file with this word in its name; empty if there is none.
fs::path file_of(const std::vector<DataFile>& files, const char* part) {
    fs::path found;
    for (const auto& file : files) {
        if (!name_contains(file.name, part)) continue;
        for (const char* other : part_words) {
            if (other != part && name_contains(file.name, other))
                refuse_files(msg("{}: its name contains both \"{}\" and \"{}\"", file.path.string(),
                                 part, other));
        }
        if (!found.empty()) {
            refuse_files(msg("{} and {}: both names contain \"{}\"", found.string(),
                             file.path.string(), part));
        }
        found = file.path;
    }
    return found;
}

TextFiles files_in_folder(const std::string& folder) {
    const auto files = find_data_files({folder}, wanted_text());
    TextFiles out{.joined = {},
                  .train = file_of(files, part_words[0]),
                  .validation = file_of(files, part_words[1]),
                  .test = file_of(files, part_words[2])};
    if (out.train.empty())
        refuse_files(msg("{}: no text file with \"train\" in its name here", folder));
    return out;
}

/// The first 64 KiB, without the character that the cut may have gone through; "" unless they are
/// text.
std::string beginning(const fs::path& file) {
    std::string text(std::size_t{64} << 10, '\0');
    const auto reader = open_packed(file);
    text.resize(reader->read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
    text.resize(whole_characters(text));
    return first_bad_byte(text) == text.size() ? text : "";
}

std::string kind_of(const fs::path& path) {
    if (fs::is_directory(path)) {
        const TextFiles files = files_in_folder(path.string());
        const bool parts = !files.validation.empty() || !files.test.empty();
        return parts && !beginning(files.train).empty() ? text_words_kind : "";
    }
    if (!has_text_extension(recognition_name(path.filename().string()))) return "";
    const std::string text = beginning(path);
    if (text.empty()) return "";
    return text.find(unknown_token) == std::string::npos ? text_chars_kind : text_words_kind;
}

}  // namespace

TextFiles find_text_files(const std::vector<std::string>& paths) {
    TextFiles out;
    for (const auto& path : paths) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            out.joined.emplace_back(path);
            continue;
        }
        if (paths.size() == 1) return files_in_folder(path);
        refuse_files(msg("{}: a folder in a list of several paths", path));
    }
    // Only for its sentence: no path is given.
    if (paths.empty()) find_data_files(paths, wanted_text());
    return out;
}

std::string recognise_text(const fs::path& path) {
    try {
        return kind_of(path);
    } catch (const Error&) {
        return "";
    } catch (const fs::filesystem_error&) {
        return "";
    }
}

}  // namespace engine
