#pragma once

#include "network/line_parser.h"
#include "network/lines.h"
#include "network/syntax.h"

namespace engine::network {

/// Makes expressions and names of the parts of a line. Adds faults that the grammar does not see.
class ExpressionReader {
public:
    ExpressionReader(const LogicalLine& line, std::vector<NetworkFault>& faults) : line_(line), faults_(faults) {}

    Expression expression(const LineNode& node);
    /// The default of an option.
    Expression literal(const LineNode& node);
    double bound(const LineNode& node);
    /// A name, which has at most Limits::label characters.
    std::string word(const LineNode& node);
    Label label(const LineNode& node);
    std::vector<Label> labels(const LineNode& node);
    /// The arguments of a call, behind its name. Those with a name come last.
    std::vector<Argument> arguments(const LineNode& call);
    TextPlace place(const LineNode& node) const { return line_.place(node.offset(), node.text().size()); }

private:
    void fault(const LineNode& node, Message text) { faults_.push_back({place(node), std::move(text), {}}); }
    std::string string(const LineNode& node);
    void number(const LineNode& node, Expression& out);
    void parts(Expression::Kind kind, const LineNode& node, Expression& out);
    void chain(const LineNode& node, Expression& out);

    const LogicalLine& line_;
    std::vector<NetworkFault>& faults_;
};

}  // namespace engine::network
