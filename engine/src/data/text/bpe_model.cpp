#include <algorithm>
#include <cstdio>
#include <queue>
#include <utility>

#include "base/text_utf8.h"
#include "data/text/tokenizer_parts.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace engine {
namespace {

struct MergeRule {
    std::int32_t rank;
    std::int32_t merged;
};

/// A token of a word that is being merged, in a list of neighbours.
struct Symbol {
    std::int32_t id;
    std::int32_t before, after;  ///< -1: none
    bool gone = false;           ///< merged into the one before it
};

/// Two neighbours that may be merged.
struct Candidate {
    std::int32_t rank, place, merged;
    bool operator<(const Candidate& other) const {  // the top of a heap is its largest
        return rank != other.rank ? rank > other.rank : place > other.place;
    }
};

std::string text_or_none(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

bool flag_in(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && !found->is_null() && found->get<bool>();
}

/// The two tokens of a merge: a list of two, or in earlier files a text with a space between them.
std::pair<std::string, std::string> parse_merge(const json& merge) {
    if (merge.is_array() && merge.size() == 2)
        return {merge[0].get<std::string>(), merge[1].get<std::string>()};
    const auto& text = merge.get_ref<const std::string&>();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
        throw Error(ErrorCode::data, msg("the tokenizer has a merge that is no pair: {}", text));
    return {text.substr(0, space), text.substr(space + 1)};
}

class BpeModel final : public SubwordModel {
public:
    BpeModel(const json& object, TokenIds tokens)
        : SubwordModel(std::move(tokens)),
          prefix_(text_or_none(object, "continuing_subword_prefix")),
          suffix_(text_or_none(object, "end_of_word_suffix")),
          fuse_unknown_(flag_in(object, "fuse_unk")),
          byte_fallback_(flag_in(object, "byte_fallback")),
          ignore_merges_(flag_in(object, "ignore_merges")) {
        const auto dropout = object.find("dropout");
        if (dropout != object.end() && !dropout->is_null() && dropout->get<double>() != 0)
            refuse_tokenizer_part("model", "BPE (dropout)");
        if (const std::string name = text_or_none(object, "unk_token"); !name.empty())
            unknown_ = known(name);
        for (std::size_t byte = 0; byte < 256; ++byte) {
            char code[8];
            std::snprintf(code, sizeof code, "<0x%02X>", static_cast<unsigned>(byte));
            bytes_[byte] = find(code);
        }
        read_merges(object.at("merges"));
    }

    void encode(std::string_view word, std::vector<std::int32_t>& ids) const override {
        if (ignore_merges_) {
            if (const std::int32_t whole = find(word); whole >= 0) {
                ids.push_back(whole);
                return;
            }
        }
        std::vector<std::int32_t> first;
        first.reserve(word.size());
        add_characters(word, first);
        merge(first, ids);
    }

private:
    std::int32_t known(const std::string& name) const {
        const std::int32_t id = find(name);
        if (id < 0)
            throw Error(ErrorCode::data,
                        msg("the tokenizer's vocabulary lacks the token {} that it uses", name));
        return id;
    }

    static std::uint64_t pair_key(std::int32_t a, std::int32_t b) {
        return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
    }

    void read_merges(const json& merges) {
        merges_.reserve(merges.size());
        std::int32_t rank = 0;
        for (const json& each : merges) {
            const auto [left, right] = parse_merge(each);
            const std::int32_t a = known(left), b = known(right);
            if (right.size() < prefix_.size())
                throw Error(ErrorCode::data,
                            msg("the tokenizer has a merge that is no pair: {}", right));
            merges_.insert_or_assign(pair_key(a, b),
                                     MergeRule{rank++, known(left + right.substr(prefix_.size()))});
        }
    }

    /// The tokens of the word's characters.
    void add_characters(std::string_view word, std::vector<std::int32_t>& ids) const {
        bool unknown_waits = false;
        std::string decorated;
        for (std::string_view left = word; !left.empty();) {
            const std::string_view before = left;
            take_character(left);
            std::string_view text = before.substr(0, before.size() - left.size());
            const bool continues = before.size() < word.size() && !prefix_.empty();
            const bool ends = left.empty() && !suffix_.empty();
            if (continues || ends) {
                decorated.assign(continues ? prefix_ : "").append(text);
                if (ends) decorated += suffix_;
                text = decorated;
            }
            if (const std::int32_t id = find(text); id >= 0) {
                if (std::exchange(unknown_waits, false)) ids.push_back(unknown_);
                ids.push_back(id);
            } else if (!fall_back(text, ids) && unknown_ >= 0) {
                if (unknown_waits && !fuse_unknown_) ids.push_back(unknown_);
                unknown_waits = true;
            }
        }
        if (unknown_waits) ids.push_back(unknown_);
    }

    /// The tokens of the character's bytes, if the vocabulary has all of them.
    bool fall_back(std::string_view text, std::vector<std::int32_t>& ids) const {
        const auto byte_id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
        if (!byte_fallback_) return false;
        if (std::ranges::any_of(text, [&](char byte) { return byte_id(byte) < 0; })) return false;
        for (const char byte : text) ids.push_back(byte_id(byte));
        return true;
    }

    void merge(const std::vector<std::int32_t>& first, std::vector<std::int32_t>& ids) const {
        const auto count = static_cast<std::int32_t>(first.size());
        std::vector<Symbol> symbols;
        symbols.reserve(first.size());
        for (std::int32_t i = 0; i < count; ++i)
            symbols.push_back(
                {first[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
        std::vector<Candidate> found;
        found.reserve(first.size());
        for (std::int32_t i = 0; i + 1 < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const auto rule = merges_.find(pair_key(first[at], first[at + 1]));
            if (rule != merges_.end()) found.push_back({rule->second.rank, i, rule->second.merged});
        }
        std::priority_queue queue(std::less<Candidate>(), std::move(found));
        while (!queue.empty()) {
            const Candidate top = queue.top();
            queue.pop();
            merge_at(top, symbols, queue);
        }
        for (const Symbol& symbol : symbols)
            if (!symbol.gone) ids.push_back(symbol.id);
    }

    void merge_at(const Candidate& top, std::vector<Symbol>& symbols,
                  std::priority_queue<Candidate>& queue) const {
        const auto at = [&](std::int32_t place) -> Symbol& {
            return symbols[static_cast<std::size_t>(place)];
        };
        Symbol& left = at(top.place);
        if (left.gone || left.after < 0) return;
        Symbol& right = at(left.after);
        const auto rule = merges_.find(pair_key(left.id, right.id));
        // A neighbour has been merged since.
        if (rule == merges_.end() || rule->second.merged != top.merged) return;
        left.id = top.merged;
        left.after = right.after;
        right.gone = true;
        if (right.after >= 0) at(right.after).before = top.place;
        const auto push = [&](std::int32_t a, std::int32_t b) {
            if (a < 0 || b < 0) return;
            const auto next = merges_.find(pair_key(at(a).id, at(b).id));
            if (next != merges_.end()) queue.push({next->second.rank, a, next->second.merged});
        };
        push(left.before, top.place);
        push(top.place, left.after);
    }

    std::string prefix_, suffix_;
    bool fuse_unknown_, byte_fallback_, ignore_merges_;
    std::int32_t bytes_[256];  // ids of <0x00> to <0xFF>, or -1
    std::unordered_map<std::uint64_t, MergeRule> merges_;
};

}  // namespace

std::unique_ptr<SubwordModel> make_bpe_model(const json& object, TokenIds tokens) {
    return std::make_unique<BpeModel>(object, std::move(tokens));
}

}  // namespace engine
