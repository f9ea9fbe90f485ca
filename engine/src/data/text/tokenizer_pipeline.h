#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A tokenizer that a file in the form of Hugging Face's tokenizer.json describes: added tokens,
/// normalizer, pre-tokenizer, BPE or WordPiece, post-processor and decoder. Gives the ids and the
/// texts that their library gives. Truncation and padding are left to the settings of a run.
/// Immutable: any thread may call any member at any time.
class TokenizerPipeline {
public:
    /// Ids are below it, so a damaged file does not cost memory.
    static constexpr std::int32_t max_tokens = 1 << 22;

    /// Throws Error(data) for a text that is no tokenizer or has a part that is not supported; the
    /// sentence begins with `name`, which stands for its file.
    TokenizerPipeline(std::string json, const std::string& name);
    ~TokenizerPipeline();

    struct Encoding {
        std::vector<std::int32_t> ids;
        std::vector<std::string> unknown{};  ///< distinct words that the vocabulary lacks
    };
    /// Where the post-processor's tokens go. Lines of white space alone are passed over.
    enum class Frames { none, around_text, around_lines };
    /// The tokens of a text. Throws Error(value) for a text that is not UTF-8, and ReadingStopped.
    Encoding encode(std::string_view text, Frames frames, const std::stop_token& stop = {}) const;
    /// The text of tokens. `skip_special`: without special ones. Ids without a token are passed
    /// over.
    std::string decode(std::span<const std::int32_t> ids, bool skip_special) const;

    /// Each token as it stands in the file, by its id; "" for an id without a token.
    const std::vector<std::string>& vocabulary() const;
    /// Id of the token for a masked word, [MASK] or <mask>; -1: there is none.
    std::int64_t mask() const;
    /// The text that it was made from.
    const std::string& source() const;

private:
    struct Parts;
    std::unique_ptr<const Parts> parts_;
};

/// Reads a tokenizer.json, at most 256 MiB. Throws Error(data) as the constructor does, and for a
/// file that is missing.
std::shared_ptr<const TokenizerPipeline> read_tokenizer(const std::filesystem::path& file);

}  // namespace engine
