#include "ops/catalog/by_name.h"

#include <cstdlib>

#include "ops/pointwise/inplace.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

/// "x, weight?, tensors[]" or "beta=1, dim=None".
std::vector<Signature::Argument> arguments_in(std::string_view text) {
    std::vector<Signature::Argument> out;
    int depth = 0;
    std::string piece;
    const auto finish = [&] {
        if (piece.empty()) return;
        Signature::Argument argument;
        const auto equals = piece.find('=');
        argument.name = piece.substr(0, equals);
        if (equals != std::string::npos) argument.otherwise = piece.substr(equals + 1);
        const auto end = argument.name.find_first_of("?[");
        argument.optional = end != std::string::npos && argument.name[end] == '?';
        argument.name = argument.name.substr(0, end);
        out.push_back(std::move(argument));
        piece.clear();
    };
    for (const char c : text) {
        depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
        if (c == ',' && depth == 0)
            finish();
        else if (c != ' ')
            piece += c;
    }
    finish();
    return out;
}

/// A default as its text gives it: None, True, 1, 0.5, [1, 2], 'mean'.
AttrValue default_value(const std::string& text) {
    if (text == "None") return std::monostate();
    if (text == "True" || text == "False") return text == "True";
    if (text.front() == '[') {
        std::vector<std::int64_t> list;
        for (std::size_t at = 1; at + 1 < text.size(); ++at) {
            list.push_back(std::strtoll(text.c_str() + at, nullptr, 10));
            at = std::min(text.find(',', at), text.size());
        }
        return list;
    }
    if (text.front() == '\'') return text.substr(1, text.size() - 2);
    const double number = std::strtod(text.c_str(), nullptr);
    if (text.find_first_of(".en") != std::string::npos) return number;
    return static_cast<std::int64_t>(number);
}

/// A copy of an in-place op's argument with a place in the graph: a leaf must not be written to.
Tensor writable(const Tensor& x) {
    return copy_(Tensor::empty(x.shape(), x.dtype(), x.device(), layout_of(x)), x);
}

Tensor number_operand(const OpArguments& args, const std::string& attr) {
    const Tensor number = number_like(args.at(0), args, attr);
    if (attr == "exponent" && !is_floating(number.dtype()) && args.integer(attr, 0) < 0)
        throw Error(ErrorCode::value, "pow: an integer to a negative integer power",
                    "Cast it to a floating type, or write the exponent as a float.");
    return number;
}

}  // namespace

Signature::Signature(const Op& op) {
    std::string_view text = op.signature;
    text.remove_prefix(text.find('(') + 1);
    text.remove_suffix(text.size() - text.rfind(')'));
    const auto end = text.find(';');
    tensors_ = arguments_in(text.substr(0, end));
    if (end != text.npos) attributes_ = arguments_in(text.substr(end + 1));
}

NamedArguments::NamedArguments(const Op& op, const OpArguments& given)
    : op_(op.name), signature_(op), given_(given) {}

std::string NamedArguments::word(const std::string& name) const {
    const auto found = given_.attrs.find(name);
    const auto* text =
        found == given_.attrs.end() ? nullptr : std::get_if<std::string>(&found->second);
    return text ? *text : "";
}

std::vector<std::int64_t> NamedArguments::numbers(const std::string& name,
                                                  std::size_t count) const {
    const auto values = given_.integers(name, {});
    if (values.size() == count) return values;
    if (values.size() == 1) return std::vector<std::int64_t>(count, values.front());
    throw Error(ErrorCode::value, op_ + ": " + name + ": one or " + std::to_string(count) +
                                      " whole numbers, not " + std::to_string(values.size()));
}

Tensor NamedArguments::tensor() {
    const int i = tensors_++;
    const auto& argument = signature_.tensors().at(static_cast<std::size_t>(i));
    if (i == 0 && op_.ends_with('_')) return writable(given_.at(0));
    // A plain number may take the place of one of two operands.
    const bool left = given_.has("self");
    if (i < 2 && (left || given_.has("other") || given_.has("exponent"))) {
        if (i == (left ? 1 : 0)) return given_.at(0);
        return number_operand(given_, left ? "self" : given_.has("other") ? "other" : "exponent");
    }
    return argument.optional ? given_.get(i) : given_.at(i);
}

TensorList NamedArguments::list() {
    const auto found = given_.lists.find(tensors_++);
    return found == given_.lists.end() ? TensorList() : found->second;
}

std::string NamedArguments::name_of_next() {
    const auto& all = signature_.attributes();
    const Signature::Argument& argument =
        *std::ranges::find_if(all, [&](const auto& each) { return !read_.contains(each.name); });
    read_.insert(argument.name);
    if (!given_.has(argument.name)) {
        if (argument.otherwise.empty())
            throw Error(ErrorCode::value, op_ + ": give the attribute " + argument.name);
        given_.attrs[argument.name] = default_value(argument.otherwise);
    }
    return argument.name;
}

}  // namespace engine
