#include "data/text/tokenizer_parts.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text_utf8.h"
#include "engine/base/json.h"

namespace engine {
namespace {

using Tokens = std::vector<std::string>;

constexpr std::string_view replacement_character = "\uFFFD";

/// Bytes as UTF-8; each longest part of a character that is cut short becomes one U+FFFD, as the
/// Unicode standard recommends.
std::string in_valid_utf8(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
        Utf8Checker checker;
        std::size_t end = at;
        bool valid = true;
        while (end < bytes.size() && (valid = checker.accept(bytes[end]))) {
            ++end;
            if (checker.complete()) break;
        }
        if (valid && checker.complete() && end > at) {
            out += bytes.substr(at, end - at);
        } else {
            out += replacement_character;
            if (end == at) ++end;
        }
        at = end;
    }
    return out;
}

void append_bytes(std::string& out, const std::string& token) {
    static const auto bytes = [] {
        std::unordered_map<char32_t, char> map;
        for (int byte = 0; byte < 256; ++byte)
            map.emplace(byte_character(static_cast<unsigned char>(byte)), static_cast<char>(byte));
        return map;
    }();
    const std::size_t before = out.size();
    for (std::string_view left = token; !left.empty();) {
        const auto found = bytes.find(take_character(left));
        if (found == bytes.end()) {  // an added token, which is text as it stands
            out.resize(before);
            out += token;
            return;
        }
        out += found->second;
    }
}

void decode_byte_level(Tokens& tokens) {
    std::string out;
    for (const std::string& token : tokens) append_bytes(out, token);
    tokens.assign(1, in_valid_utf8(out));
}

/// Removes the spaces that English does not have in front of signs and shortened words.
void clean_up(std::string& text) {
    constexpr std::array<std::pair<const char*, const char*>, 11> changes{{{" .", "."},
                                                                           {" ?", "?"},
                                                                           {" !", "!"},
                                                                           {" ,", ","},
                                                                           {" ' ", "'"},
                                                                           {" n't", "n't"},
                                                                           {" 'm", "'m"},
                                                                           {" do not", " don't"},
                                                                           {" 's", "'s"},
                                                                           {" 've", "'ve"},
                                                                           {" 're", "'re"}}};
    for (const auto& [from, to] : changes) replace_all(text, from, to);
}

TokenDecoder make_word_piece(const json& object) {
    return [prefix = object.at("prefix").get<std::string>(),
            cleans = object.at("cleanup").get<bool>()](Tokens& tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            std::string& token = tokens[i];
            if (i > 0) {
                if (token.starts_with(prefix))
                    token.erase(0, prefix.size());
                else
                    token.insert(0, " ");
            }
            if (cleans) clean_up(token);
        }
    };
}

TokenDecoder make_bpe_decoder(const json& object) {
    return [suffix = object.at("suffix").get<std::string>()](Tokens& tokens) {
        if (suffix.empty()) return;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            replace_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    };
}

/// The byte of <0x41>.
std::optional<char> parse_byte(const std::string& token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
    unsigned value = 0;
    const char* const end = token.data() + 5;
    const auto [stopped, error] = std::from_chars(token.data() + 3, end, value, 16);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return static_cast<char>(value);
}

void decode_byte_fallback(Tokens& tokens) {
    Tokens out;
    std::string bytes;
    const auto end_bytes = [&] {
        Utf8Checker checker;
        if (checker.accept(bytes) && checker.complete()) {
            if (!bytes.empty()) out.push_back(bytes);
        } else {
            out.insert(out.end(), bytes.size(), std::string(replacement_character));
        }
        bytes.clear();
    };
    for (std::string& token : tokens) {
        if (const auto byte = parse_byte(token)) {
            bytes += *byte;
            continue;
        }
        end_bytes();
        out.push_back(std::move(token));
    }
    end_bytes();
    tokens = std::move(out);
}

void fuse_tokens(Tokens& tokens) {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, std::move(all));
}

TokenDecoder make_strip_decoder(const json& object) {
    return [content = object.at("content").get<std::string>(),
            start = object.at("start").get<std::size_t>(),
            stop = object.at("stop").get<std::size_t>()](Tokens& tokens) {
        if (content.empty()) return;
        for (std::string& token : tokens) {
            for (std::size_t i = 0; i < start && token.starts_with(content); ++i)
                token.erase(0, content.size());
            for (std::size_t i = 0; i < stop && token.ends_with(content); ++i)
                token.resize(token.size() - content.size());
        }
    };
}

TokenDecoder make_decoders(const json& list) {
    std::vector<TokenDecoder> all;
    for (const json& each : list) all.push_back(make_token_decoder(each));
    return [all = std::move(all)](Tokens& tokens) {
        for (const TokenDecoder& each : all) each(tokens);
    };
}

void separate_tokens(Tokens& tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i) tokens[i].insert(0, " ");
}

}  // namespace

TokenDecoder make_token_decoder(const json& object) {
    if (object.is_null()) return separate_tokens;
    const auto type = object.at("type").get<std::string>();
    if (type == "Sequence") return make_decoders(object.at("decoders"));
    if (type == "ByteLevel") return decode_byte_level;
    if (type == "WordPiece") return make_word_piece(object);
    if (type == "BPEDecoder") return make_bpe_decoder(object);
    if (type == "ByteFallback") return decode_byte_fallback;
    if (type == "Fuse") return fuse_tokens;
    if (type == "Strip") return make_strip_decoder(object);
    if (type == "Replace")
        return [from = replaced_text(object),
                to = object.at("content").get<std::string>()](Tokens& tokens) {
            for (std::string& token : tokens) replace_all(token, from, to);
        };
    refuse_tokenizer_part("decoder", type);
}

}  // namespace engine
