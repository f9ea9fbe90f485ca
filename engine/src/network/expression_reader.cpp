#include "network/expression_reader.h"

#include <algorithm>
#include <charconv>

#include "base/text_utf8.h"
#include "network/initial.h"

namespace engine::network {
namespace {

Operator operator_named(std::string_view text) {
    static constexpr std::pair<std::string_view, Operator> signs[] = {
        {"+", Operator::add},    {"-", Operator::subtract},      {"*", Operator::multiply},
        {"/", Operator::divide}, {"//", Operator::floor_divide}, {"%", Operator::remainder},
        {"==", Operator::equal}, {"!=", Operator::differs},      {"<", Operator::less},
        {"<=", Operator::at_most}, {">", Operator::more},        {">=", Operator::at_least}};
    return std::ranges::find(signs, text, &std::pair<std::string_view, Operator>::first)->second;
}

}  // namespace

Expression ExpressionReader::expression(const LineNode& folded) {
    const LineNode node = folded.unfolded();
    Expression out{.place = place(node)};
    switch (node.part()) {
        case Part::number:
            number(node, out);
            break;
        case Part::string:
            out.kind = Expression::Kind::text;
            out.text = string(node);
            break;
        case Part::path:
        case Part::name:
            out.kind = Expression::Kind::path;
            out.text = node.text();
            break;
        case Part::truth:
            out.kind = Expression::Kind::truth;
            out.whole = node.text() == "true" ? 1 : 0;
            break;
        case Part::call:
            out.kind = Expression::Kind::call;
            out.text = node.first().text();
            for (Argument& each : arguments(node)) {
                out.names.push_back(std::move(each.name));
                out.parts.push_back(std::move(each.value));
            }
            break;
        case Part::list:
            parts(Expression::Kind::list, node, out);
            break;
        case Part::index:
            return expression(node.first());
        case Part::item:
            parts(Expression::Kind::item, node, out);
            break;
        case Part::power:
            parts(Expression::Kind::chain, node, out);
            out.operators = {Operator::power};
            break;
        case Part::negative:
            parts(Expression::Kind::negative, node, out);
            break;
        case Part::negation:
            parts(Expression::Kind::negation, node, out);
            break;
        case Part::both:
            parts(Expression::Kind::both, node, out);
            break;
        case Part::either:
            parts(Expression::Kind::either, node, out);
            break;
        case Part::expression:
            parts(Expression::Kind::choice, node, out);
            break;
        default:
            chain(node, out);
            break;
    }
    return out;
}

void ExpressionReader::parts(Expression::Kind kind, const LineNode& node, Expression& out) {
    out.kind = kind;
    const auto children = node.children();
    out.parts.reserve(children.size());
    for (const LineNode& child : children) out.parts.push_back(expression(child));
}

void ExpressionReader::chain(const LineNode& node, Expression& out) {
    out.kind = Expression::Kind::chain;
    for (const LineNode& child : node.children()) {
        if (child.part() == Part::operator_sign)
            out.operators.push_back(operator_named(child.text()));
        else
            out.parts.push_back(expression(child));
    }
}

void ExpressionReader::number(const LineNode& node, Expression& out) {
    const std::string_view text = node.text();
    const bool whole = text.find_first_not_of("0123456789") == text.npos;
    std::from_chars_result read{};
    if (whole)
        read = std::from_chars(text.begin(), text.end(), out.whole);
    else
        read = std::from_chars(text.begin(), text.end(), out.number);
    out.kind = whole ? Expression::Kind::whole : Expression::Kind::number;
    if (whole && out.whole >= size_limit) {
        read.ec = std::errc::result_out_of_range;
        out.whole = 0;
    }
    if (read.ec == std::errc{}) return;
    fault(node, msg("{} is out of range.", shortened(std::string(text))));
    out.kind = Expression::Kind::unknown;
}

std::string ExpressionReader::string(const LineNode& node) {
    if (node.text().size() > Limits::string && count_characters(node.text()) > Limits::string)
        fault(node, msg("A string of more than {} characters.", Limits::string));
    return std::string(node.text());
}

std::string ExpressionReader::word(const LineNode& node) {
    if (node.text().size() > Limits::label)
        fault(node, msg("A name of more than {} characters.", Limits::label));
    return std::string(node.text());
}

Expression ExpressionReader::literal(const LineNode& node) {
    if (node.part() == Part::literal_list) {
        Expression out{.kind = Expression::Kind::list, .place = place(node)};
        for (const LineNode& child : node.children()) out.parts.push_back(literal(child));
        if (out.parts.size() > Limits::list) fault(node, msg("A list of more than {} items.", Limits::list));
        return out;
    }
    if (node.part() != Part::signed_number) {
        Expression out = expression(node);
        if (out.kind == Expression::Kind::path) out.kind = Expression::Kind::text;
        return out;
    }
    const bool negative = node.first().part() == Part::minus;
    Expression out = expression(node.children().back());
    if (out.kind == Expression::Kind::unknown) out.kind = Expression::Kind::whole;
    if (negative) {
        out.whole = -out.whole;
        out.number = -out.number;
    }
    return out;
}

double ExpressionReader::bound(const LineNode& node) {
    const Expression read = literal(node);
    return read.kind == Expression::Kind::whole ? static_cast<double>(read.whole) : read.number;
}

Label ExpressionReader::label(const LineNode& node) {
    Label out{.place = place(node)};
    if (!node.has_children()) out.pieces.push_back({std::string(node.text()), {}});
    for (const LineNode& child : node.children()) {
        if (child.part() == Part::computed)
            out.pieces.push_back({{}, expression(child.first())});
        else if (!out.pieces.empty() && !out.pieces.back().computed)
            out.pieces.back().text += child.text();
        else
            out.pieces.push_back({std::string(child.text()), {}});
    }
    return out;
}

std::vector<Label> ExpressionReader::labels(const LineNode& node) {
    std::vector<Label> out;
    for (const LineNode& child : node.children()) out.push_back(label(child));
    return out;
}

std::vector<Argument> ExpressionReader::arguments(const LineNode& call) {
    std::vector<Argument> out;
    bool named = false, in_order = true;
    const auto children = call.children();
    out.reserve(children.size());
    for (std::size_t i = 1; i < children.size(); ++i) {
        const LineNode& each = children[i];
        if (each.part() == Part::named_argument) {
            named = true;
            const auto inside = each.children();
            out.push_back({std::string(inside[0].text()), place(each), expression(inside[1])});
            continue;
        }
        if (named && in_order) fault(each, msg("{}: arguments without a name come first.", shortened(std::string(each.text()))));
        in_order = !named;
        out.push_back({{}, place(each), expression(each.first())});
    }
    return out;
}

}  // namespace engine::network
