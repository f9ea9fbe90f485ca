#include "engine/base/plain_text.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(CsvCell, QuotesWhereCsvAsksForIt) {
    EXPECT_EQ(csv_cell("plain text"), "plain text");
    EXPECT_EQ(csv_cell(""), "");
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
    EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
    EXPECT_EQ(csv_cell("a\rb"), "\"a\rb\"");
}

TEST(CsvCell, KeepsASpreadsheetFromComputingATextAsAFormula) {
    EXPECT_EQ(csv_cell("=cmd|'/c calc'!A1"), "'=cmd|'/c calc'!A1");
    EXPECT_EQ(csv_cell("@SUM(1)"), "'@SUM(1)");
    EXPECT_EQ(csv_cell("+1"), "'+1") << "a text, although it reads as a number";
    EXPECT_EQ(csv_cell("-2+3"), "'-2+3");
    EXPECT_EQ(csv_cell("\t=1"), "'\t=1");
    EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
    EXPECT_EQ(csv_cell("=HYPERLINK(\"x\",\"y\")"), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"")
        << "the apostrophe stands inside the quotation marks";
    EXPECT_EQ(csv_cell("a=1"), "a=1");
}

TEST(CsvCell, RawLeavesTheTextAsItIs) {
    EXPECT_EQ(csv_cell("=1+1", true), "=1+1");
    EXPECT_EQ(csv_cell("-a,b", true), "\"-a,b\"");
}

}  // namespace
}  // namespace engine
