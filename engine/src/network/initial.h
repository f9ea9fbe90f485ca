#pragma once

#include <span>
#include <string>
#include <vector>

#include "network/values.h"

namespace engine::network {

/// Bounds of what a text makes (network notation, 2.4).
struct Limits {
    static constexpr std::size_t list = 1000, inner_items = 10'000, options = 200, label = 100, full_name = 500, string = 1000, shown_faults = 100;
    static constexpr std::int64_t repeats = 1000, statements = 200'000, layers = 20'000, parameters = 50'000, columns = 10'000;
    static constexpr int dimensions = 8, list_depth = 64;
};

/// How a tensor is drawn at first: the rule's word and its arguments, as in torch.nn.init.
struct InitialRule {
    std::string rule = "zeros";
    std::vector<double> numbers{};   ///< of constant, uniform (+-), normal and trunc_normal
    std::vector<std::string> words{};  ///< of the kaiming rules: mode, activation

    friend bool operator==(const InitialRule&, const InitialRule&) = default;
};

/// The rules' words, and the words that are their arguments.
std::span<const std::string> initial_rules();
std::span<const std::string> initial_words();

/// Reads a rule, "zeros" or "normal(0.02)". Throws Failure at `place`.
InitialRule read_initial(const Value& value, const TextPlace& place);

}  // namespace engine::network
