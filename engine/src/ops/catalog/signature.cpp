#include "ops/catalog/signature.h"

#include <algorithm>
#include <string_view>

#include "engine/base/error.h"

namespace engine {
namespace {

using Names = std::vector<std::string>;

/// "x, weight?, tensors[]" as x, weight, tensors.
Names split(std::string_view text) {
    Names names;
    std::string name;
    for (const char c : text) {
        if (c == ',') {
            names.push_back(std::move(name));
            name.clear();
        } else if (c != ' ' && c != '?' && c != '[' && c != ']') {
            name += c;
        }
    }
    if (!name.empty()) names.push_back(std::move(name));
    return names;
}

struct Signature {
    Names tensors, attributes;
};

Signature read(const OpInfo& info) {
    std::string_view text = info.signature;
    text.remove_prefix(text.find('(') + 1);
    text.remove_suffix(text.size() - text.rfind(')'));
    const auto end = text.find(';');
    if (end == std::string_view::npos) return {split(text), {}};
    return {split(text.substr(0, end)), split(text.substr(end + 1))};
}

bool contains(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the attribute is a plain number in the place of one of two tensors.
bool is_number_operand(const Names& tensors, const std::string& attribute) {
    static const Names number_names{"other", "exponent", "self"};
    return contains(tensors, "y") && contains(number_names, attribute);
}

bool asks_for_nothing(const AttrValue& value) {
    const bool* flag = std::get_if<bool>(&value);
    return std::holds_alternative<std::monostate>(value) || (flag && !*flag);
}

}  // namespace

void check_against_signature(const OpInfo& info, const OpArguments& args) {
    const Signature known = read(info);
    int last = args.tensors.empty() ? -1 : args.tensors.rbegin()->first;
    if (!args.lists.empty()) last = std::max(last, args.lists.rbegin()->first);
    if (last >= static_cast<int>(known.tensors.size())) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": there is no tensor argument " +
                        std::to_string(last) + " in " + info.signature,
                    "`halftone ops` lists the arguments.");
    }
    for (const auto& [name, value] : args.attrs) {
        if (asks_for_nothing(value) || contains(known.attributes, name) ||
            is_number_operand(known.tensors, name))
            continue;
        throw Error(
            ErrorCode::value,
            std::string(info.name) + ": there is no attribute " + name + " in " + info.signature,
            "`halftone ops` lists the attributes.");
    }
}

}  // namespace engine
