#pragma once

#include "network/kinds.h"

namespace engine::network {

/// The arguments of a layer, complete. Throws Failure at the argument that does not fit.
LayerArguments bind_arguments(const LayerKind& kind, const Statement& statement, Evaluator& evaluator, const Surroundings& in);

/// Throws Failure at an argument whose name the kind does not have.
void check_argument_names(const LayerKind& kind, const Statement& statement, const Surroundings& in);

/// An argument as the notation writes it.
struct ArgumentText {
    const LayerArgument& argument;
    std::string text{};
    bool is_default = true;
};
/// All arguments, those that have their defaults too.
std::vector<ArgumentText> argument_texts(const LayerKind& kind, const LayerArguments& arguments);
std::string to_string(const InitialRule& rule);

/// As the notation writes it, without arguments that have their defaults: "Conv2d(64, 7, stride=2)".
std::string call_text(const LayerKind& kind, const LayerArguments& arguments);

}  // namespace engine::network
