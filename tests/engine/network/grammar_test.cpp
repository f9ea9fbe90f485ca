#include "network/grammar.h"

#include <gtest/gtest.h>

#include "accepted_texts.h"
#include "refused_texts.h"

namespace engine::network {
namespace {

std::vector<NetworkFault> faults_of(const std::string& text) {
    std::vector<NetworkFault> faults;
    parse_network(text, faults);
    return faults;
}

Statement statement(const std::string& line) {
    std::vector<NetworkFault> faults;
    NetworkSyntax syntax = parse_network("network(image):\n  " + line + "\n", faults);
    for (const auto& fault : faults) ADD_FAILURE() << line << ": " << fault.text.str();
    return syntax.body.empty() ? Statement{} : std::move(syntax.body.front());
}

Expression expression(const std::string& text) {
    auto read = statement("let a = " + text);
    return read.value ? *std::move(read.value) : Expression{};
}

/// The tree with brackets around each operator.
std::string shown(const Expression& e) {
    static constexpr const char* signs[] = {"+", "-", "*", "/", "//", "%", "^", "==", "!=", "<", "<=", ">", ">="};
    const auto joined = [&](const std::string& between) {
        std::string out;
        for (std::size_t i = 0; i < e.parts.size(); ++i) out += (i == 0 ? "" : between) + shown(e.parts[i]);
        return out;
    };
    switch (e.kind) {
        case Expression::Kind::whole:
            return std::to_string(e.whole);
        case Expression::Kind::number:
            return detail::written(e.number);
        case Expression::Kind::truth:
            return e.whole != 0 ? "true" : "false";
        case Expression::Kind::text:
            return '\'' + e.text + '\'';
        case Expression::Kind::path:
            return e.text;
        case Expression::Kind::call:
            return e.text + '(' + joined(", ") + ')';
        case Expression::Kind::list:
            return '[' + joined(", ") + ']';
        case Expression::Kind::item:
            return "item(" + joined(", ") + ')';
        case Expression::Kind::negative:
            return "-(" + joined("") + ')';
        case Expression::Kind::negation:
            return "not(" + joined("") + ')';
        case Expression::Kind::both:
            return '(' + joined(" and ") + ')';
        case Expression::Kind::either:
            return '(' + joined(" or ") + ')';
        case Expression::Kind::choice:
            return "choice(" + joined(", ") + ')';
        case Expression::Kind::unknown:
            return "?";
        case Expression::Kind::chain:
            break;
    }
    std::string out = '(' + shown(e.parts[0]);
    for (std::size_t i = 0; i < e.operators.size(); ++i)
        out += signs[static_cast<std::size_t>(e.operators[i])] + shown(e.parts[i + 1]);
    return out + ')';
}

TEST(NetworkGrammar, TakesEachProduction) {
    for (const AcceptedText& accepted : accepted_texts)
        for (const auto& fault : faults_of(accepted.text))
            ADD_FAILURE() << accepted.subject << ", line " << fault.place.line << ", column " << fault.place.column
                          << ": " << fault.text.str();
}

TEST(NetworkGrammar, RefusesEachProductionAtItsPlace) {
    for (const RefusedText& refused : refused_texts) {
        const auto faults = faults_of(refused.text);
        ASSERT_FALSE(faults.empty()) << refused.subject;
        EXPECT_EQ(faults.front().place.line, refused.line) << refused.subject;
        EXPECT_EQ(faults.front().place.column, refused.column) << refused.subject;
    }
}

TEST(NetworkGrammar, OperatorsBindByRank) {
    EXPECT_EQ(shown(expression("1 + 2 * 3^2 // 4 % 3 - -1")), "(1+(2*(3^2)//4%3)--(1))");
    EXPECT_EQ(shown(expression("-2^2")), "-((2^2))");
    EXPECT_EQ(shown(expression("2^3^2")), "(2^(3^2))");
    EXPECT_EQ(shown(expression("2^-1")), "(2^-(1))");
    EXPECT_EQ(shown(expression("not a == b or c and d < 2")), "(not((a==b)) or (c and (d<2)))");
    EXPECT_EQ(shown(expression("1 if a else 2 if b else 3")), "choice(1, a, choice(2, b, 3))");
    EXPECT_EQ(shown(expression("[[1, 2], [3]][-1][0] + size([4])")), "(item([[1, 2], [3]], -(1), 0)+size([4]))");
    EXPECT_EQ(shown(expression("normal(0.02, x = 1e3)")), "normal(0.02, 1000)");
    EXPECT_EQ(shown(expression("in.width")), "in.width");
    EXPECT_EQ(shown(expression("\"two words\"")), "'two words'");
}

TEST(NetworkGrammar, AWordBeforeAColonIsALabel) {
    const Statement read = statement("repeat.dense: Linear(9, bias=false) from in, \"a-{1 + 1}\" if x");
    EXPECT_EQ(read.kind, Statement::Kind::layer);
    EXPECT_EQ(read.label->fixed(), "repeat.dense");
    EXPECT_EQ(read.callee->fixed(), "Linear");
    ASSERT_EQ(read.arguments.size(), 2u);
    EXPECT_EQ(read.arguments[1].name, "bias");
    ASSERT_EQ(read.from.size(), 2u);
    EXPECT_EQ(read.from[1].pieces.size(), 2u);
    EXPECT_TRUE(read.condition.has_value());
    EXPECT_EQ(statement("let = ReLU").name, "let");
    EXPECT_EQ(statement("let let = 3").kind, Statement::Kind::let);
}

TEST(NetworkGrammar, ARepeatSaysWhatItCounts) {
    const Statement pairs = statement("rows: repeat [c, n] in x as i: Linear(c)");
    EXPECT_EQ(pairs.kind, Statement::Kind::repeat);
    EXPECT_TRUE(pairs.takes_apart);
    EXPECT_EQ(pairs.each, (std::vector<std::string>{"c", "n"}));
    EXPECT_EQ(pairs.index, "i");
    EXPECT_EQ(pairs.body.size(), 1u);
    const Statement range = statement("repeat k in 1..3: ReLU");
    EXPECT_EQ(range.value->whole, 1);
    EXPECT_EQ(range.last->whole, 3);
    EXPECT_TRUE(statement("repeat 4: ReLU").each.empty());
}

TEST(NetworkGrammar, OptionsInitsBlocksAndTheNetworkAreRead) {
    std::vector<NetworkFault> faults;
    const NetworkSyntax syntax = parse_network(
        "option p = -0.5 in -1..1.5 of a, b \"Help\"\ninit Conv2d.weight = zeros\nblock B(n, m = 2) of x, y:\n  ReLU\n"
        "network(features or image, tokens) gives click score:\n  ReLU\n",
        faults);
    EXPECT_TRUE(faults.empty());
    ASSERT_EQ(syntax.options.size(), 1u);
    EXPECT_EQ(syntax.options[0].default_value.number, -0.5);
    EXPECT_EQ(syntax.options[0].lowest, -1);
    EXPECT_EQ(syntax.options[0].highest, 1.5);
    EXPECT_EQ(syntax.options[0].choices, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(syntax.options[0].help, "Help");
    ASSERT_EQ(syntax.inits.size(), 1u);
    EXPECT_EQ(syntax.inits[0].parameter, "weight");
    ASSERT_EQ(syntax.blocks.size(), 1u);
    EXPECT_EQ(syntax.blocks[0].inputs, (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(syntax.blocks[0].parameters[1].default_value.has_value());
    EXPECT_EQ(syntax.inputs, (std::vector<std::vector<std::string>>{{"features", "image"}, {"tokens"}}));
    EXPECT_EQ(syntax.gives, "click score");
}

TEST(NetworkGrammar, AFaultInOneLineHidesNoOther) {
    const auto faults = faults_of("option = 3\nnetwork(image):\n  Linear(8,)\n  a:\n    ReLU ReLU\n  ReLU\n  x = in\n");
    std::vector<int> lines;
    for (const auto& fault : faults) lines.push_back(fault.place.line);
    EXPECT_EQ(lines, (std::vector<int>{1, 3, 5, 7}));
}

TEST(NetworkGrammar, AFaultSaysWhatStandsThereAndWhatFits) {
    EXPECT_EQ(faults_of("network(image):\n  Linear(8 3)\n").front().text.str(), "\"3\": \",\" or \")\" is needed here.");
    EXPECT_EQ(faults_of("network(image):\n  let a = 3 if true\n").front().text.str(),
              "The line ends, where \"else\" is needed.");
}

TEST(NetworkGrammar, DeepExpressionsAreRefusedAndLongOnesAreNot) {
    const auto line = [](const std::string& piece, int times, const std::string& end) {
        std::string text = "network(image):\n  let a = 1";
        if (piece == "-" || piece == "not ") text.pop_back();
        for (int i = 0; i < times; ++i) text += piece;
        return text + end + "\n";
    };
    for (const char* piece : {"-", "not ", "^1", " if true else 1"})
        EXPECT_EQ(faults_of(line(piece, 2'000, "1")).size(), 1u) << piece;
    for (const char* piece : {"+1", "[0]", " and 1"}) EXPECT_TRUE(faults_of(line(piece, 5'000, "")).empty()) << piece;
}

TEST(NetworkGrammar, NamesStringsAndListsHaveLimits) {
    const auto first = [](const std::string& text) {
        const auto faults = faults_of(text);
        return faults.empty() ? std::string() : std::to_string(faults[0].place.line) + ':' + std::to_string(faults[0].place.column) + ": " + faults[0].text.str();
    };
    const std::string name(100, 'a');
    const std::string network = "network(image):\n  ReLU\n", start = "network(image):\n";
    EXPECT_EQ(first(start + "  let " + name + " = 1\n"), "");
    EXPECT_EQ(first(start + "  let b" + name + " = 1\n"), "2:7: A name of more than 100 characters.");
    EXPECT_EQ(first(start + "  b" + name + " = ReLU\n"), "2:3: A name of more than 100 characters.");
    EXPECT_EQ(first("option b" + name + " = 1\n" + network), "1:8: A name of more than 100 characters.");
    EXPECT_EQ(first("option a = 1 \"" + std::string(1000, 'x') + "\"\n" + network), "");
    EXPECT_EQ(first("option a = 1 \"" + std::string(1001, 'x') + "\"\n" + network), "1:15: A string of more than 1000 characters.");
    EXPECT_EQ(first(start + "  let a = \"" + std::string(1001, 'x') + "\"\n"), "2:12: A string of more than 1000 characters.");
    std::string items = "1";
    for (int i = 1; i < 1000; ++i) items += ",1";
    EXPECT_EQ(first("option a = [" + items + "]\n" + network), "");
    EXPECT_EQ(first("option a = [" + items + ",1]\n" + network), "1:12: A list of more than 1000 items.");
}

/// No text may stop the parser, and a fault stands in a line that exists.
TEST(NetworkGrammar, ATextWithOneCharacterLessIsReadOrRefused) {
    const std::string text = accepted_texts[2].text;
    const auto lines = 1 + std::ranges::count(text, '\n');
    for (std::size_t i = 0; i < text.size(); i += 2) {
        std::string shorter = text;
        shorter.erase(i, 1);
        for (const auto& fault : faults_of(shorter)) {
            EXPECT_GE(fault.place.line, 1);
            EXPECT_LE(fault.place.line, lines);
        }
    }
}

}  // namespace
}  // namespace engine::network
