#include "network/lines.h"

#include <gtest/gtest.h>

namespace engine::network {
namespace {

std::vector<LogicalLine> cut(std::string_view text) {
    std::vector<NetworkFault> faults;
    auto lines = cut_lines(text, faults);
    for (const auto& fault : faults) ADD_FAILURE() << fault.place.line << ": " << fault.text.str();
    return lines;
}

NetworkFault only_fault(std::string_view text) {
    std::vector<NetworkFault> faults;
    cut_lines(text, faults);
    EXPECT_EQ(faults.size(), 1u);
    return faults.empty() ? NetworkFault{} : faults.front();
}

TEST(NetworkLines, IndentationMakesBodiesOfAnyDepth) {
    const auto lines = cut("a:\n   b:\n    c\n   d\ne\n");
    ASSERT_EQ(lines.size(), 2u);
    ASSERT_EQ(lines[0].body.size(), 2u);
    EXPECT_EQ(lines[0].body[0].text, "b:");
    ASSERT_EQ(lines[0].body[0].body.size(), 1u);
    EXPECT_EQ(lines[0].body[0].body[0].number, 3);
    EXPECT_EQ(lines[0].body[1].text, "d");
    EXPECT_EQ(lines[1].number, 5);
}

TEST(NetworkLines, CommentsEmptyLinesMarksAndCarriageReturnsDoNotCount) {
    const auto lines = cut("\xEF\xBB\xBF# a comment\r\n\r\n  # indented\r\na \"#\" # b\r\n");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].text, "a \"#\"");
    EXPECT_EQ(lines[0].number, 4);
}

TEST(NetworkLines, AnOpenBracketGoesOnInDeeperLines) {
    const auto lines = cut("a(\n    1,  # one\n\n  [2,\n   3])\nb\n");
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].text, "a( 1, [2, 3])");
    EXPECT_EQ(lines[0].place(lines[0].text.find('2')), (TextPlace{4, 4, 1}));
    EXPECT_EQ(lines[0].place(lines[0].text.find('3')), (TextPlace{5, 4, 1}));
}

TEST(NetworkLines, AColumnBehindAnUmlautIsThatOfItsCharacter) {
    const auto lines = cut("\"größe\"(1)\n");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].place(lines[0].text.find('(')), (TextPlace{1, 8, 1}));
}

TEST(NetworkLines, ABracketThatIsNotClosedIsReportedWhereItOpens) {
    const NetworkFault fault = only_fault("a\nb(1,\nc\n");
    EXPECT_EQ(fault.place, (TextPlace{2, 2, 1}));
    EXPECT_EQ(fault.text.str(), "\"(\" is not closed: line 3 is not indented deeper.");
    EXPECT_EQ(only_fault("a\n  b[1,\n").place, (TextPlace{2, 4, 1}));
}

TEST(NetworkLines, ATabIsAFaultWithAReplacement) {
    const NetworkFault fault = only_fault("a:\n\tb\n");
    EXPECT_EQ(fault.place, (TextPlace{2, 1, 1}));
    EXPECT_EQ(fault.replacement, "    ");
    cut("a \"\t\" # \t\n");
}

TEST(NetworkLines, ADedentMeetsAnOpenLevel) {
    const NetworkFault fault = only_fault("a:\n    b\n  c\nd\n");
    EXPECT_EQ(fault.place, (TextPlace{3, 1, 2}));
    EXPECT_EQ(fault.replacement, "");
}

TEST(NetworkLines, TheFirstLineIsNotIndented) {
    EXPECT_EQ(only_fault("  a\n  b\n").place, (TextPlace{1, 1, 2}));
}

TEST(NetworkLines, BytesThatAreNoTextAreReportedAtTheirPlace) {
    EXPECT_EQ(only_fault("a\nbc\xFF\n").place, (TextPlace{2, 3, 1}));
    EXPECT_EQ(only_fault(std::string_view("a\0b\n", 4)).place, (TextPlace{1, 2, 1}));
}

TEST(NetworkLines, LimitsOfATextAreHeld) {
    EXPECT_EQ(only_fault(std::string(TextLimits::bytes + 1, ' ')).place.line, 1);
    EXPECT_EQ(only_fault(std::string(TextLimits::lines + 1, '\n')).place.line, TextLimits::lines + 1);
    cut(std::string(TextLimits::lines, '\n'));
    std::string levels;
    for (int i = 0; i <= TextLimits::levels; ++i) levels += std::string(static_cast<std::size_t>(i), ' ') + "a\n";
    cut(levels);
    EXPECT_EQ(only_fault(levels + std::string(TextLimits::levels + 1, ' ') + "a\n").place.line, TextLimits::levels + 2);
    const std::string open(TextLimits::brackets, '('), close(TextLimits::brackets, ')');
    cut(open + close);
    EXPECT_EQ(only_fault('[' + open + close + ']').place.column, TextLimits::brackets + 1);
}

TEST(NetworkLines, ANewerNotationIsRefused) {
    cut("# halftone network 1\na\n");
    cut("# halftone network of mine\na\n");
    EXPECT_EQ(only_fault("# halftone network 2\na\n").place.line, 1);
}

}  // namespace
}  // namespace engine::network
