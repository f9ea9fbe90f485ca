#include "data/text/generated_text.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace engine {
namespace {

constexpr std::int64_t text_size = 200'000;

/// The sentences without their full stops; the last one, which may be cut, is left out.
std::vector<std::string> sentences(const std::string& text) {
    std::vector<std::string> out;
    std::size_t begin = 0;
    for (auto end = text.find('.'); end != std::string::npos; end = text.find('.', begin)) {
        out.push_back(text.substr(begin, end - begin));
        begin = end + 2;
    }
    return out;
}

std::vector<std::string> words_of(const std::string& sentence) {
    std::istringstream in(sentence);
    return {std::istream_iterator<std::string>(in), {}};
}

/// FNV-1a
std::uint64_t hash(const std::string& text) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return h;
}

TEST(GeneratedText, IsTheSameOnEveryMachine) {
    EXPECT_EQ(generated_text(1, 60),
              "\"the very nice fox sees an apple,\" says the kind cat. the br");
    EXPECT_EQ(hash(generated_text(1, text_size)), 5091046214357302303U);
    EXPECT_EQ(hash(generated_text(-7, text_size, 1)), 13155306008801140900U);
}

TEST(GeneratedText, IsTheBeginningOfAnEndlessTextOfItsSeedAndPart) {
    const std::string text = generated_text(3, 5'000);
    for (const std::int64_t shorter : {0, 1, 77, 4'999})
        EXPECT_EQ(generated_text(3, shorter), text.substr(0, static_cast<std::size_t>(shorter)));
    EXPECT_NE(generated_text(4, 100), text.substr(0, 100));
    EXPECT_NE(generated_text(3, 100, 1), text.substr(0, 100));
}

TEST(GeneratedText, HasFortyCharacters) {
    for (const std::int64_t seed : {1, 2, 3}) {
        const std::string text = generated_text(seed, text_size);
        EXPECT_EQ(std::set<char>(text.begin(), text.end()).size(), 40U);
    }
}

TEST(GeneratedText, EndsSentencesAndParagraphsAsItSays) {
    const std::string text = generated_text(1, text_size);
    int paragraphs = 0;
    for (std::size_t at = text.find('.'); at + 1 < text.size(); at = text.find('.', at + 1)) {
        if (at == std::string::npos) break;
        EXPECT_TRUE(text[at + 1] == ' ' || text[at + 1] == '\n');
        if (text[at + 1] == '\n') ++paragraphs;
    }
    EXPECT_GT(paragraphs, 500);
    EXPECT_EQ(text.find("  "), std::string::npos);
    EXPECT_EQ(text.find("\n\n"), std::string::npos);
}

TEST(GeneratedText, HasCorrectSumsAndDifferences) {
    std::map<std::string, int> numbers;
    for (int i = 0; i < 100; ++i) numbers[number_in_words(i)] = i;
    ASSERT_EQ(numbers.size(), 100U);
    EXPECT_EQ(numbers["ninety-nine"], 99);
    EXPECT_EQ(numbers["twenty"], 20);
    EXPECT_EQ(numbers["thirteen"], 13);
    int sums = 0;
    int differences = 0;
    for (const auto& sentence : sentences(generated_text(1, text_size))) {
        const auto w = words_of(sentence);
        if (w.size() != 5 || w[3] != "is") continue;
        ASSERT_TRUE(numbers.contains(w[0]) && numbers.contains(w[2]) && numbers.contains(w[4]));
        const bool sum = w[1] == "and";
        ASSERT_EQ(numbers[w[0]] + (sum ? 1 : -1) * numbers[w[2]], numbers[w[4]]) << sentence;
        ++(sum ? sums : differences);
    }
    EXPECT_GT(sums, 400);
    EXPECT_GT(differences, 400);
}

TEST(GeneratedText, ClosesItsBracketsAndQuotationMarksInEachSentence) {
    std::size_t deepest = 0;
    for (const auto& sentence : sentences(generated_text(1, text_size))) {
        std::string open;
        int quotation_marks = 0;
        for (const char c : sentence) {
            if (c == '"') ++quotation_marks;
            if (c == '(') open.push_back(')');
            if (c == '[') open.push_back(']');
            if (c == '{') open.push_back('}');
            deepest = std::max(deepest, open.size());
            if (c != ')' && c != ']' && c != '}') continue;
            ASSERT_TRUE(open.ends_with(c)) << sentence;
            open.pop_back();
        }
        EXPECT_TRUE(open.empty()) << sentence;
        EXPECT_EQ(quotation_marks % 2, 0) << sentence;
    }
    EXPECT_EQ(deepest, 4U);
}

TEST(GeneratedText, ChoosesAOrAnByTheNextLetter) {
    for (const auto& sentence : sentences(generated_text(1, text_size))) {
        const auto w = words_of(sentence);
        for (std::size_t i = 0; i + 1 < w.size(); ++i) {
            if (w[i] != "a" && w[i] != "an") continue;
            const bool vowel = std::string("aeiou").find(w[i + 1][0]) != std::string::npos;
            EXPECT_EQ(w[i] == "an", vowel) << sentence;
        }
    }
}

}  // namespace
}  // namespace engine
