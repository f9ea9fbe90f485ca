#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/lab/lesson_results.h"
#include "lab/expression_node.h"
#include "lab/expression_tokens.h"

namespace engine {
namespace {

using Node = LessonExpression::Node;
using Kind = Node::Kind;
using NodePtr = std::shared_ptr<const Node>;
using Token = ExpressionToken;

constexpr int deepest = 100;  ///< parentheses within parentheses

/// Words that every lesson has: types, and causes and stages of a skipped step.
constexpr std::array known_words = {"fp64",
                                    "fp32",
                                    "tf32",
                                    "fp16",
                                    "bf16",
                                    "i64",
                                    "bool",
                                    "none",
                                    "state",
                                    "batch",
                                    "forward",
                                    "backward",
                                    "update",
                                    "unknown",
                                    "damaged_state",
                                    "bad_input",
                                    "forward_overflow",
                                    "mathematical",
                                    "scale_too_large",
                                    "optimizer",
                                    "low",
                                    "f32",
                                    "f32_dtype",
                                    "f32_append",
                                    "promote",
                                    "banned",
                                    "forced",
                                    "gradient",
                                    "off"};
constexpr std::array xray_fields = {"output", "input", "compute", "rule"};
constexpr std::array skip_fields = {"cause", "stage", "op", "module", "step"};

[[noreturn]] void refuse(const Message& message) { throw Error(ErrorCode::value, message); }

template <typename List>
bool contains(const List& list, std::string_view name) {
    return std::ranges::any_of(list, [&](const auto& each) { return each == name; });
}

class Parser {
public:
    Parser(std::string_view text, const LessonNames& names)
        : text_(text), names_(names), tokens_(tokenize(text)) {}

    NodePtr whole() {
        if (peek().kind == Token::Kind::end) refuse(msg("the expression is missing"));
        NodePtr root = either();
        if (peek().kind != Token::Kind::end)
            refuse(msg("there is one “{}” too many in the expression", peek().text));
        return root;
    }

private:
    const Token& peek() const { return tokens_[at_]; }
    Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    bool take_sign(std::string_view sign) {
        if (peek().kind != Token::Kind::sign || peek().text != sign) return false;
        take();
        return true;
    }
    bool take_word(std::string_view word) {
        if (peek().kind != Token::Kind::name || peek().text != word) return false;
        take();
        return true;
    }
    void expect(const char* sign) {
        if (!take_sign(sign)) refuse(msg("“{}” is missing in the expression", sign));
    }
    std::string expect_name(const Message& otherwise) {
        if (peek().kind != Token::Kind::name) refuse(otherwise);
        return take().text;
    }

    static NodePtr make(Node node) { return std::make_shared<const Node>(std::move(node)); }

    static NodePtr unary(Kind kind, NodePtr input) {
        if (input->type == LessonType::word) refuse(msg("a word cannot be computed with"));
        Node node{.kind = kind, .type = input->type};
        node.inputs = {std::move(input)};
        return make(std::move(node));
    }
    static NodePtr binary(LessonOperator op, NodePtr a, NodePtr b) {
        const bool words = a->type == LessonType::word || b->type == LessonType::word;
        const bool equality = op == LessonOperator::equal || op == LessonOperator::differs;
        if (words && !(equality && a->type == b->type))
            refuse(msg("a word can only be compared with a word, by == or !="));
        const bool series = a->type == LessonType::series || b->type == LessonType::series;
        Node node{.kind = Kind::binary,
                  .type = series ? LessonType::series : LessonType::number,
                  .op = op};
        node.inputs = {std::move(a), std::move(b)};
        return make(std::move(node));
    }

    NodePtr either() {
        if (++depth_ > deepest) refuse(msg("the expression is nested too deeply"));
        NodePtr a = both();
        while (take_word("or")) a = binary(LessonOperator::either, a, both());
        --depth_;
        return a;
    }
    NodePtr both() {
        NodePtr a = negation();
        while (take_word("and")) a = binary(LessonOperator::both, a, negation());
        return a;
    }
    NodePtr negation() {
        int times = 0;
        while (take_word("not")) ++times;
        NodePtr a = comparison();
        for (; times > 0; --times) a = unary(Kind::negation, a);
        return a;
    }
    NodePtr comparison() {
        NodePtr a = sum();
        using enum LessonOperator;
        static constexpr std::array<std::pair<const char*, LessonOperator>, 6> signs{
            {{"<=", at_most},
             {">=", at_least},
             {"<", less},
             {">", more},
             {"==", equal},
             {"!=", differs}}};
        for (const auto& [sign, op] : signs)
            if (take_sign(sign)) return binary(op, a, sum());
        return a;
    }
    NodePtr sum() {
        NodePtr a = product();
        while (true) {
            if (take_sign("+"))
                a = binary(LessonOperator::add, a, product());
            else if (take_sign("-"))
                a = binary(LessonOperator::subtract, a, product());
            else
                return a;
        }
    }
    NodePtr product() {
        NodePtr a = factor();
        while (true) {
            if (take_sign("*"))
                a = binary(LessonOperator::multiply, a, factor());
            else if (take_sign("/"))
                a = binary(LessonOperator::divide, a, factor());
            else
                return a;
        }
    }
    NodePtr factor() {
        int times = 0;
        while (take_sign("-")) ++times;
        NodePtr a = primary();
        return times % 2 == 0 ? a : unary(Kind::negative, a);
    }

    NodePtr primary() {
        const Token token = take();
        switch (token.kind) {
            case Token::Kind::number:
                return make({.number = token.number});
            case Token::Kind::text:
                return word(token.text);
            case Token::Kind::name:
                return named(token.text);
            default:
                break;
        }
        if (token.kind == Token::Kind::sign && token.text == "(") {
            NodePtr inner = either();
            expect(")");
            return inner;
        }
        if (token.kind == Token::Kind::end) refuse(msg("the expression ends too early"));
        refuse(msg("“{}” is in the wrong place in the expression", token.text));
    }

    static NodePtr word(const std::string& text) {
        return make({.kind = Kind::word, .type = LessonType::word, .name = text});
    }

    NodePtr named(const std::string& name) {
        const bool call = peek().kind == Token::Kind::sign && peek().text == "(";
        if (call && name == "xray") return xray();
        if (call && name == "skip") return skip();
        if (call) return function(name);
        if (take_sign(".")) return member(name);
        for (const auto& [id, type] : names_.checks) {
            if (id == name) return make({.kind = Kind::check, .type = type, .name = name});
        }
        if (contains(names_.words, name) || contains(known_words, name)) return word(name);
        if (contains(names_.runs, name))
            refuse(msg("name a column of the run {}, such as {}.loss", name, name));
        refuse(msg("nothing is called {} here", name));
    }

    NodePtr member(const std::string& owner) {
        const std::string key = expect_name(msg("a name is missing after “{}.”", owner));
        for (const auto& block : names_.blocks)
            if (block.id == owner) return of_block(block, key);
        if (!contains(names_.runs, owner)) refuse(msg("no run is called {}", owner));
        if (key == "result" && take_sign(".")) return of_result(owner);
        if (!contains(names_.columns, key)) refuse(msg("the record has no column {}", key));
        return make({.kind = Kind::column, .type = LessonType::series, .name = owner, .key = key});
    }
    static NodePtr of_block(const LessonBlockNumber& block, const std::string& key) {
        if (!contains(result_names(block), key)) refuse(msg("{} has no result {}", block.id, key));
        return make({.kind = Kind::block, .key = key, .block = block});
    }
    NodePtr of_result(const std::string& run) {
        const std::string key = expect_name(msg("a name is missing after “{}.”", run + ".result"));
        if (!contains(lesson_result_keys(), key)) refuse(msg("a run has no result {}", key));
        return make({.kind = Kind::result, .name = run, .key = key});
    }

    std::string run_argument() {
        const std::string run = expect_name(msg("the name of a run is missing"));
        if (!contains(names_.runs, run)) refuse(msg("no run is called {}", run));
        return run;
    }
    NodePtr xray() {
        expect("(");
        const std::string run = run_argument();
        expect(",");
        const std::size_t begin = peek().begin;
        while (peek().kind != Token::Kind::end &&
               !(peek().kind == Token::Kind::sign && peek().text == ")"))
            take();
        std::string op(text_.substr(begin, peek().begin - begin));
        while (!op.empty() && op.back() == ' ') op.pop_back();
        if (op.empty()) refuse(msg("the name of an operation is missing"));
        expect(")");
        expect(".");
        const std::string field = expect_name(msg("a name is missing after “{}.”", "xray(...)"));
        if (!contains(xray_fields, field)) refuse(msg("an operation has no {}", field));
        return make({.kind = Kind::xray,
                     .type = LessonType::word,
                     .name = run,
                     .key = field,
                     .argument = op});
    }
    NodePtr skip() {
        expect("(");
        const std::string run = run_argument();
        expect(")");
        expect(".");
        const std::string field = expect_name(msg("a name is missing after “{}.”", "skip(...)"));
        if (!contains(skip_fields, field)) refuse(msg("a skipped step has no {}", field));
        return make({.kind = Kind::skip,
                     .type = field == "step" ? LessonType::number : LessonType::word,
                     .name = run,
                     .key = field});
    }

    std::vector<NodePtr> arguments() {
        expect("(");
        std::vector<NodePtr> out;
        if (take_sign(")")) return out;
        do out.push_back(either());
        while (take_sign(","));
        expect(")");
        return out;
    }

    NodePtr function(const std::string& name) {
        static constexpr std::array<std::pair<const char*, Kind>, 6> of_series{
            {{"mean", Kind::mean},
             {"first", Kind::first},
             {"last", Kind::last},
             {"min", Kind::min},
             {"max", Kind::max},
             {"count", Kind::count}}};
        const auto args = arguments();
        if (name == "isnan") {
            if (args.size() != 1) refuse(msg("{} takes one value", name));
            return unary(Kind::isnan, args[0]);
        }
        for (const auto& [known, kind] : of_series) {
            if (name != known) continue;
            if (kind == Kind::mean && args.size() == 2) return trailing_mean(args);
            if (args.size() != 1) refuse(msg("{} takes one value", name));
            if (args[0]->type != LessonType::series)
                refuse(msg("{} takes a column of a run, or something computed from one", name));
            Node node{.kind = kind};
            node.inputs = args;
            return make(std::move(node));
        }
        refuse(msg("there is no function {}", name));
    }
    static NodePtr trailing_mean(const std::vector<NodePtr>& args) {
        if (args[0]->type != LessonType::series)
            refuse(msg("{} takes a column of a run, or something computed from one", "mean"));
        const double steps = args[1]->number;
        if (args[1]->kind != Kind::number || steps < 1 || steps > 1e6 ||
            steps != static_cast<double>(static_cast<long>(steps)))
            refuse(msg("mean over steps takes a whole number of steps from 1"));
        Node node{.kind = Kind::trailing_mean, .type = LessonType::series, .number = steps};
        node.inputs = {args[0]};
        return make(std::move(node));
    }

    std::string_view text_;
    const LessonNames& names_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::shared_ptr<const LessonExpression::Node> parse_expression(std::string_view text,
                                                               const LessonNames& names) {
    constexpr std::size_t longest = 4000;
    if (text.size() > longest) refuse(msg("the expression has more than {} characters", longest));
    return Parser(text, names).whole();
}

}  // namespace engine
