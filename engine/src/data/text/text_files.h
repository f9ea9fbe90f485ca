#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace engine {

inline constexpr char text_words_kind[] = "text-words", text_chars_kind[] = "text-chars",
                      text_tokens_kind[] = "text-tokens",
                      text_generated_kind[] = "text-generated";

/// The files of a text.
struct TextFiles {
    std::vector<std::filesystem::path> joined;  ///< one text in these files; empty: a file a part
    std::filesystem::path train, validation, test;  ///< empty: no such file
};

/// The text files that the user's paths stand for: a folder with one file whose name contains
/// "train" and perhaps one each with "val" or "valid" and "test" (.txt, .text, .tokens, .raw or no
/// extension, also .gz and .xz), or any files, which are joined in the order of the list. Throws
/// Error(data) if a folder has no training text, two files for one part, or stands beside other
/// paths.
TextFiles find_text_files(const std::vector<std::string>& paths);

/// The kind of data set that a dropped path holds, "" if it is no text. Looks at the first 64 KiB,
/// which must be UTF-8 without NUL. A folder as in find_text_files() with a second part beside the
/// training text is "text-words". So is a single .txt, .text, .tokens or .raw file (also .gz, .xz)
/// that contains <unk>, as texts prepared for word models do; without it, it is "text-chars".
std::string recognise_text(const std::filesystem::path& path);

}  // namespace engine
