#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Bounds on a JSON text. The value of a text takes at most about 25 times the text's bytes.
struct JsonBounds {
    std::size_t bytes = std::size_t{64} << 20;
    std::size_t depth = 32;                     ///< open brackets
    std::size_t values = std::size_t{1} << 26;  ///< with those in others
};

/// Why a text was not read.
struct JsonFault {
    enum class Kind { none, syntax, number, too_deep, too_large, repeated };
    Kind kind = Kind::none;
    std::string place{};   ///< syntax: "line 3, column 14"
    std::string reason{};  ///< syntax: what the parser expected; number: the one that is too large
    /// The keys that an object has twice, by their paths ("optimizer.lr"); at most ten.
    std::vector<std::string> repeated{};

    /// The reason in words, for the end of a sentence.
    std::string str() const;
};

/// Reads JSON that may have been written by anyone. Every JSON text that was not written in this
/// process goes through here: deep nesting would exhaust the stack in later calls that recurse,
/// such as dump(), and of a key that occurs twice only one would count. Returns a discarded value,
/// and the reason in `fault`, for a text that is refused.
nlohmann::json read_json(std::string_view text, const JsonBounds& bounds = {},
                         JsonFault* fault = nullptr);

/// Reads a file; a file that is absent, not a regular one or larger than the bounds is refused.
nlohmann::json read_json_file(const std::filesystem::path& file, const JsonBounds& bounds = {});

}  // namespace engine
