#include "data/text/tokenizer_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

using Frames = TokenizerPipeline::Frames;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::int32_t> ids_of(const TokenizerPipeline& tokenizer, const std::string& text) {
    return tokenizer.encode(text, Frames::none).ids;
}

/// The lines of tests/peer/tokenizer_golden.py for one tokenizer: ids and texts by the package
/// `tokenizers`.
void compare_with_peer(const std::filesystem::path& folder, const std::string& name) {
    const auto tokenizer = read_tokenizer(folder / (name + ".json"));
    std::ifstream lines(folder / (name + ".jsonl"));
    int count = 0, other_ids = 0, other_texts = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const json wanted = json::parse(line);
        const auto text = wanted.at("text").get<std::string>();
        const auto special =
            wanted.value("special", wanted.at("ids")).get<std::vector<std::int32_t>>();
        const auto decoded = wanted.value("decoded", text);
        const bool same = ids_of(*tokenizer, text) == wanted.at("ids") &&
                          tokenizer->encode(text, Frames::around_text).ids == special;
        const bool again = tokenizer->decode(special, false) == decoded &&
                           tokenizer->decode(special, true) == wanted.value("plain", decoded);
        other_ids += same ? 0 : 1;
        other_texts += again ? 0 : 1;
        if (!same || !again) ADD_FAILURE() << name << ", line " << count + 1 << ": " << text;
        if (other_ids + other_texts > 10) break;
    }
    EXPECT_GT(count, 50);
    EXPECT_EQ(other_ids, 0) << "of " << count;
    EXPECT_EQ(other_texts, 0) << "of " << count;
}

TEST(TokenizerPipeline, GivesTheIdsAndTextsOfTheLibraryThatMadeIt) {
    for (const char* name : {"gpt2", "bert"})
        compare_with_peer(HALFTONE_TOKENIZER_FILES, name);
}

TEST(TokenizerPipeline, GivesThemForTenThousandSentences) {
    const char* const folder = std::getenv("HALFTONE_TOKENIZERS");
    if (folder == nullptr)
        GTEST_SKIP() << "HALFTONE_TOKENIZERS names no folder of tokenizer_golden.py --large";
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".json") continue;
        compare_with_peer(folder, entry.path().stem().string());
        ++count;
    }
    EXPECT_GE(count, 3);
}

/// A byte-pair tokenizer of the letters a to e, which merges "a b" and then "ab c".
json small_bpe() {
    return json::parse(R"({"added_tokens": [], "normalizer": null, "pre_tokenizer": null,
        "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "unk_token": null, "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3,
            "abc": 4, "d": 5}, "merges": ["a b", ["ab", "c"]]}})");
}

json small_word_piece() {
    return json::parse(R"({"added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 5, "vocab": {"[UNK]": 0, "ab": 1, "##c": 2, "##cd": 3,
            "é": 4, ".": 5}}})");
}

json added(const char* content, int id) {
    return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false}, {"special", true}};
}

TokenizerPipeline make_pipeline(const json& object) {
    return TokenizerPipeline(object.dump(), "t.json");
}

std::string error_text(const std::string& text) {
    try {
        const TokenizerPipeline made(text, "t.json");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        return error.what();
    }
    return "";
}

TEST(TokenizerPipeline, MergesInTheOrderOfTheMerges) {
    const auto tokenizer = make_pipeline(small_bpe());
    EXPECT_THAT(ids_of(tokenizer, "abcab"), ElementsAre(4, 3));
    EXPECT_THAT(ids_of(tokenizer, "bca"), ElementsAre(1, 2, 0));
    EXPECT_THAT(ids_of(tokenizer, ""), IsEmpty());
    EXPECT_THAT(ids_of(tokenizer, "azb"), ElementsAre(3)) << "an unknown character is left out";
}

TEST(TokenizerPipeline, FallsBackToBytes) {
    json object = small_bpe();
    object["model"]["byte_fallback"] = true;
    object["model"]["vocab"]["<0xC3>"] = 6;
    object["model"]["vocab"]["<0xA9>"] = 7;
    object["decoder"] = {{"type", "Sequence"},
                         {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}};
    const auto tokenizer = make_pipeline(object);
    EXPECT_THAT(ids_of(tokenizer, "aéb"), ElementsAre(0, 6, 7, 1));
    EXPECT_EQ(tokenizer.decode(ids_of(tokenizer, "aéb"), false), "aéb");
    EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>{0, 6, 1}, false), "a\uFFFDb");
}

TEST(TokenizerPipeline, CutsWordsIntoTheLongestPieces) {
    const auto tokenizer = make_pipeline(small_word_piece());
    EXPECT_THAT(ids_of(tokenizer, "abcd abc."), ElementsAre(1, 3, 1, 2, 5));
    EXPECT_EQ(tokenizer.decode(ids_of(tokenizer, "abcd abc."), false), "abcd abc.");
    const auto unknown = tokenizer.encode("abx é abcabc abx", Frames::none);
    EXPECT_THAT(unknown.ids, ElementsAre(0, 4, 0, 0));
    EXPECT_THAT(unknown.unknown, ElementsAre("abx", "abcabc")) << "six characters are too many";
}

TEST(TokenizerPipeline, FindsAddedTokensInTheText) {
    json object = small_word_piece();
    json stripping = added("<m>", 6), word = added("é", 4), longer = added("<m>>", 7);
    stripping["lstrip"] = stripping["rstrip"] = true;
    word["single_word"] = true;
    object["added_tokens"] = {stripping, word, longer};
    const auto tokenizer = make_pipeline(object);
    EXPECT_THAT(ids_of(tokenizer, "ab <m> ab"), ElementsAre(1, 6, 1));
    EXPECT_THAT(ids_of(tokenizer, "ab<m>>"), ElementsAre(1, 7)) << "the longest";
    EXPECT_THAT(ids_of(tokenizer, "éab"), ElementsAre(0)) << "not a word of its own";
    EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>{1, 6, 1}, true), "ab ab");
    EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>{1, 6, 1}, false), "ab <m> ab");
}

TEST(TokenizerPipeline, PutsSpecialTokensAroundTextsAndLines) {
    json object = small_word_piece();
    object["added_tokens"] = {added("[CLS]", 6), added("[SEP]", 7), added("[MASK]", 8)};
    for (const char* processor :
         {R"({"type": "BertProcessing", "sep": ["[SEP]", 7], "cls": ["[CLS]", 6]})",
          R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]"}},
              {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "[SEP]"}}],
              "special_tokens": {"[CLS]": {"ids": [6]}, "[SEP]": {"ids": [7]}}})"}) {
        object["post_processor"] = json::parse(processor);
        const auto tokenizer = make_pipeline(object);
        EXPECT_THAT(tokenizer.encode("ab\n\nabc\n", Frames::around_text).ids,
                    ElementsAre(6, 1, 1, 2, 7));
        EXPECT_THAT(tokenizer.encode("ab\n \nabc\n", Frames::around_lines).ids,
                    ElementsAre(6, 1, 7, 6, 1, 2, 7));
        EXPECT_EQ(tokenizer.mask(), 8);
    }
    EXPECT_EQ(make_pipeline(small_bpe()).mask(), -1);
}

TEST(TokenizerPipeline, ReadsAHugeWordInLittleTime) {
    const auto tokenizer = make_pipeline(small_bpe());
    std::string word;
    for (int i = 0; i < 300'000; ++i) word += "abcd";
    EXPECT_EQ(ids_of(tokenizer, word).size(), 600'000U);
}

TEST(TokenizerPipeline, RefusesTextThatIsNotUtf8) {
    const auto tokenizer = make_pipeline(small_bpe());
    for (const char* text : {"a\xFF", "\xC3", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80"})
        EXPECT_THROW(ids_of(tokenizer, text), Error) << text;
    EXPECT_THAT(ids_of(tokenizer, std::string("a\0b", 3)), ElementsAre(3));
}

TEST(TokenizerPipeline, RefusesWhatItDoesNotSupportByItsName) {
    const auto with = [](const char* key, const char* part) {
        json object = small_bpe();
        object[key] = json::parse(part);
        return error_text(object.dump());
    };
    EXPECT_EQ(with("normalizer", R"({"type": "Precompiled"})"),
              "t.json: the tokenizer's normalizer Precompiled is not supported");
    EXPECT_THAT(with("pre_tokenizer", R"({"type": "Metaspace"})"), HasSubstr("Metaspace"));
    EXPECT_THAT(with("pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "\\d+"},
                                         "behavior": "Isolated", "invert": false})"),
                HasSubstr("\\d+"));
    EXPECT_THAT(with("post_processor", R"({"type": "Other"})"), HasSubstr("post-processor Other"));
    EXPECT_THAT(with("decoder", R"({"type": "CTC"})"), HasSubstr("decoder CTC"));
    EXPECT_THAT(with("model", R"({"type": "Unigram", "vocab": []})"), HasSubstr("model Unigram"));
    EXPECT_THAT(with("normalizer", R"({"type": "Replace", "pattern": {"Regex": "x"},
                                      "content": ""})"),
                HasSubstr("regular expression"));
}

TEST(TokenizerPipeline, RefusesDamagedFiles) {
    const auto with = [](const auto& change) {
        json object = small_bpe();
        change(object["model"]);
        return error_text(object.dump());
    };
    EXPECT_THAT(error_text("{"), HasSubstr("t.json: no tokenizer.json"));
    EXPECT_THAT(error_text("[]"), HasSubstr("no tokenizer.json"));
    EXPECT_THAT(error_text("{}"), HasSubstr("no tokenizer.json"));
    EXPECT_THAT(with([](json& model) { model["vocab"]["a"] = -1; }), HasSubstr("the id -1"));
    EXPECT_THAT(with([](json& model) { model["vocab"]["a"] = 1LL << 40; }), HasSubstr("the id"));
    EXPECT_THAT(with([](json& model) { model["vocab"]["a"] = 1; }),
                HasSubstr("two tokens with the id 1"));
    EXPECT_THAT(with([](json& model) { model["vocab"].erase("ab"); }), HasSubstr("lacks"));
    EXPECT_THAT(with([](json& model) { model["merges"].push_back("abc"); }),
                HasSubstr("no pair: abc"));
    EXPECT_THAT(with([](json& model) { model["merges"].push_back(7); }),
                HasSubstr("no tokenizer.json"));
    EXPECT_THAT(with([](json& model) { model["dropout"] = 0.1; }), HasSubstr("dropout"));
    EXPECT_THAT(with([](json& model) { model["unk_token"] = "?"; }), HasSubstr("lacks"));
    // Cut short anywhere, and with any byte changed, it is read or refused in a sentence.
    const std::string whole = small_word_piece().dump();
    for (std::size_t at = 0; at < whole.size(); at += 3) {
        error_text(whole.substr(0, at));
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x15);
        error_text(changed);
    }
}

TEST(TokenizerPipeline, IsReadFromAFile) {
    const test_support::TempFolder folder;
    EXPECT_EQ(read_tokenizer(folder.write("t.json", small_bpe().dump()))->vocabulary().size(), 6U);
    EXPECT_THROW(read_tokenizer(folder / "none.json"), Error);
    EXPECT_THROW(read_tokenizer(folder.path()), Error);
}

}  // namespace
}  // namespace engine
