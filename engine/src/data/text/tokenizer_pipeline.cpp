#include "data/text/tokenizer_pipeline.h"

#include <algorithm>
#include <utility>

#include "base/json_reader.h"
#include "base/platform/regular_file.h"
#include "base/text_utf8.h"
#include "data/byte_reader.h"
#include "data/text/tokenizer_parts.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace engine {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr JsonBounds tokenizer_bounds{.bytes = std::size_t{256} << 20};

const json& tokenizer_section(const json& object, const char* key) {
    static const json none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

std::int32_t parse_id(const json& id) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
        id.get<std::int64_t>() >= TokenizerPipeline::max_tokens)
        throw Error(ErrorCode::data, msg("the tokenizer has a token with the id {}", id.dump()));
    return id.get<std::int32_t>();
}

TokenIds parse_vocabulary(const json& vocabulary) {
    TokenIds tokens;
    tokens.reserve(vocabulary.size());
    for (const auto& [token, id] : vocabulary.items()) tokens.emplace(token, parse_id(id));
    return tokens;
}

std::unique_ptr<SubwordModel> make_model(const json& object) {
    const auto type = object.contains("type")     ? object["type"].get<std::string>()
                      : object.contains("merges") ? "BPE"
                                                  : "";
    if (type != "BPE" && type != "WordPiece") refuse_tokenizer_part("model", type);
    TokenIds tokens = parse_vocabulary(object.at("vocab"));
    return type == "BPE" ? make_bpe_model(object, std::move(tokens))
                         : make_word_piece_model(object, std::move(tokens));
}

AddedToken parse_added_token(const json& object, const SubwordModel& model) {
    AddedToken token{.id = parse_id(object.at("id")),
                     .content = object.at("content").get<std::string>(),
                     .single_word = object.at("single_word").get<bool>(),
                     .left_space = object.at("lstrip").get<bool>(),
                     .right_space = object.at("rstrip").get<bool>(),
                     .normalized = object.at("normalized").get<bool>(),
                     .special = object.at("special").get<bool>()};
    const auto found = model.tokens().find(token.content);
    if (found != model.tokens().end()) token.id = found->second;
    return token;
}

/// The tokens that a post-processor puts around a text.
struct Frame {
    Ids before, after;
};

/// "[CLS]" and 101, as BertProcessing and RobertaProcessing have them.
std::int32_t parse_named_id(const json& pair) { return parse_id(pair.at(1)); }

Frame parse_template(const json& object) {
    const json& known = object.at("special_tokens");
    Frame frame;
    std::size_t texts = 0;
    for (const json& item : object.at("single")) {
        if (item.contains("Sequence")) {
            ++texts;
            continue;
        }
        const json& token = known.at(item.at("SpecialToken").at("id").get<std::string>());
        for (const json& id : token.at("ids"))
            (texts == 0 ? frame.before : frame.after).push_back(parse_id(id));
    }
    if (texts != 1) refuse_tokenizer_part("post-processor", "TemplateProcessing (single)");
    return frame;
}

Frame parse_frame(const json& object) {
    if (object.is_null()) return {};
    const auto type = object.at("type").get<std::string>();
    if (type == "ByteLevel") return {};  // changes places in the text, not tokens
    if (type == "TemplateProcessing") return parse_template(object);
    if (type == "BertProcessing" || type == "RobertaProcessing")
        return {{parse_named_id(object.at("cls"))}, {parse_named_id(object.at("sep"))}};
    if (type != "Sequence") refuse_tokenizer_part("post-processor", type);
    Frame all;
    for (const json& each : object.at("processors")) {
        const Frame one = parse_frame(each);
        all.before.insert(all.before.begin(), one.before.begin(), one.before.end());
        all.after.insert(all.after.end(), one.after.begin(), one.after.end());
    }
    return all;
}

/// Words come again and again, and keep their tokens.
class WordEncoder {
public:
    WordEncoder(const SubwordModel& model, TokenizerPipeline::Encoding& out,
                const std::stop_token& stop)
        : model_(model), out_(out), stop_(stop) {}

    void add(std::string_view word) {
        constexpr std::size_t words_each_poll = 4096;
        if (++words_ % words_each_poll == 0 && stop_.stop_requested()) throw ReadingStopped{};
        const auto found = cache_.find(word);
        if (found != cache_.end()) {
            out_.ids.insert(out_.ids.end(), found->second.begin(), found->second.end());
            return;
        }
        const auto before = std::ssize(out_.ids);
        model_.encode(word, out_.ids);
        const auto added = out_.ids.begin() + before;
        note_unknown(word, added);
        if (word.size() <= longest_kept && cache_.size() < most_kept)
            cache_.emplace(word, Ids(added, out_.ids.end()));
    }

private:
    static constexpr std::size_t longest_kept = 256, most_kept = std::size_t{1} << 18;
    static constexpr std::size_t most_unknown = 1000;

    void note_unknown(std::string_view word, Ids::const_iterator added) {
        if (model_.unknown() < 0 || out_.unknown.size() >= most_unknown) return;
        if (std::find(added, out_.ids.cend(), model_.unknown()) != out_.ids.cend())
            out_.unknown.emplace_back(word);
    }

    const SubwordModel& model_;
    TokenizerPipeline::Encoding& out_;
    const std::stop_token& stop_;
    std::size_t words_ = 0;
    std::unordered_map<std::string, Ids, TextHash, std::equal_to<>> cache_;
};

}  // namespace

struct TokenizerPipeline::Parts {
    std::string source;
    TextNormalizer normalizer;
    PreTokenizer pre_tokenizer;
    std::unique_ptr<SubwordModel> model;
    Frame frame;
    TokenDecoder decoder;
    AddedTokenFinder raw, normalised;  ///< by AddedToken::normalized
    std::vector<std::string> vocabulary;
    std::vector<bool> special;  ///< by id
    /// Added tokens that are found in normalised text decode as they are found.
    std::unordered_map<std::int32_t, std::string> found_forms;
    std::int64_t mask = -1;

    explicit Parts(const json& object)
        : normalizer(make_normalizer(tokenizer_section(object, "normalizer"))),
          pre_tokenizer(make_pre_tokenizer(tokenizer_section(object, "pre_tokenizer"))),
          model(make_model(object.at("model"))),
          frame(parse_frame(tokenizer_section(object, "post_processor"))),
          decoder(make_token_decoder(tokenizer_section(object, "decoder"))) {
        for (const auto& [token, id] : model->tokens()) enter(token, id);
        for (const json& each : tokenizer_section(object, "added_tokens"))
            add(parse_added_token(each, *model));
        special.resize(vocabulary.size());
        for (const Ids* ids : {&frame.before, &frame.after}) check_ids(*ids);
        for (const char* name : {"<mask>", "[MASK]"}) {
            const auto found = std::ranges::find(vocabulary, name);
            if (found != vocabulary.end()) mask = found - vocabulary.begin();
        }
    }

    void enter(const std::string& token, std::int32_t id) {
        const auto at = static_cast<std::size_t>(id);
        if (at >= vocabulary.size()) vocabulary.resize(at + 1);
        if (!vocabulary[at].empty() && vocabulary[at] != token)
            throw Error(ErrorCode::data,
                        msg("the tokenizer has two tokens with the id {}: {} and {}", id,
                            vocabulary[at], token));
        vocabulary[at] = token;
    }

    void add(const AddedToken& token) {
        if (token.content.empty()) return;
        enter(token.content, token.id);
        special.resize(vocabulary.size());
        if (token.special) special[static_cast<std::size_t>(token.id)] = true;
        std::string content = token.content;
        if (token.normalized && normalizer) {
            normalizer(content);
            found_forms[token.id] = content;
        }
        if (!content.empty()) (token.normalized ? normalised : raw).add(token, content);
    }

    void check_ids(const Ids& ids) const {
        for (const std::int32_t id : ids)
            if (id >= std::ssize(vocabulary))
                throw Error(ErrorCode::data, msg("the tokenizer has a token with the id {}", id));
    }

    void encode_piece(std::string_view piece, WordEncoder& words) const {
        if (!pre_tokenizer) return words.add(piece);
        pre_tokenizer(piece, [&](std::string_view word) { words.add(word); });
    }

    void encode(std::string_view text, WordEncoder& words, Ids& ids) const {
        const auto token = [&](std::int32_t id) { ids.push_back(id); };
        std::string changed;
        raw.split(
            text,
            [&](std::string_view piece) {
                if (normalizer) {
                    changed.assign(piece);
                    normalizer(changed);
                    piece = changed;
                }
                normalised.split(
                    piece, [&](std::string_view part) { encode_piece(part, words); }, token);
            },
            token);
    }

    void encode_framed(std::string_view text, WordEncoder& words, Ids& ids) const {
        ids.insert(ids.end(), frame.before.begin(), frame.before.end());
        encode(text, words, ids);
        ids.insert(ids.end(), frame.after.begin(), frame.after.end());
    }
};

namespace {

bool is_blank_line(std::string_view line) {
    while (!line.empty()) {
        const std::size_t space = white_space_at_start(line);
        if (space == 0) return false;
        line.remove_prefix(space);
    }
    return true;
}

}  // namespace

TokenizerPipeline::TokenizerPipeline(std::string text, const std::string& name) {
    JsonFault fault;
    const json object = read_json(text, tokenizer_bounds, &fault);
    if (object.is_discarded())
        throw Error(ErrorCode::data, msg("{}: no tokenizer.json: {}", name, fault.str()));
    try {
        auto parts = std::make_unique<Parts>(object);
        parts->source = std::move(text);
        parts_ = std::move(parts);
        return;
    } catch (const Error& error) {
        throw Error(ErrorCode::data, msg("{}: {}", name, error.message().str()));
    } catch (const json::exception&) {
    }
    throw Error(ErrorCode::data,
                msg("{}: no tokenizer.json: a part of it is missing or of another kind", name));
}

TokenizerPipeline::~TokenizerPipeline() = default;

TokenizerPipeline::Encoding TokenizerPipeline::encode(std::string_view text, Frames frames,
                                                      const std::stop_token& stop) const {
    Utf8Checker checker;
    if (!checker.accept(text) || !checker.complete())
        throw Error(ErrorCode::value, msg("the text is not valid UTF-8"));
    Encoding out;
    WordEncoder words(*parts_->model, out, stop);
    if (frames == Frames::none) {
        parts_->encode(text, words, out.ids);
    } else if (frames == Frames::around_text) {
        parts_->encode_framed(text, words, out.ids);
    } else {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string_view line = text.substr(at, end - at);
            if (!is_blank_line(line)) parts_->encode_framed(line, words, out.ids);
            at = end + 1;
        }
    }
    return out;
}

std::string TokenizerPipeline::decode(std::span<const std::int32_t> ids, bool skip_special) const {
    std::vector<std::string> tokens;
    for (const std::int32_t id : ids) {
        const auto at = static_cast<std::size_t>(id);
        if (id < 0 || at >= parts_->vocabulary.size() || parts_->vocabulary[at].empty()) continue;
        if (skip_special && parts_->special[at]) continue;
        const auto form = parts_->found_forms.find(id);
        tokens.push_back(form == parts_->found_forms.end() ? parts_->vocabulary[at] : form->second);
    }
    parts_->decoder(tokens);
    std::string out;
    for (const std::string& token : tokens) out += token;
    return out;
}

const std::vector<std::string>& TokenizerPipeline::vocabulary() const { return parts_->vocabulary; }
std::int64_t TokenizerPipeline::mask() const { return parts_->mask; }
const std::string& TokenizerPipeline::source() const { return parts_->source; }

std::shared_ptr<const TokenizerPipeline> read_tokenizer(const std::filesystem::path& file) {
    auto text = read_regular_file(file, tokenizer_bounds.bytes + 1);
    if (!text)
        throw Error(ErrorCode::data, msg("{}: cannot be read", file.string()),
                    msg("Give dataset.tokenizer the path of a tokenizer.json."));
    return std::make_shared<const TokenizerPipeline>(*std::move(text), file.string());
}

}  // namespace engine
