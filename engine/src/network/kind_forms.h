#pragma once

#include "network/kinds.h"

/// Forms of arguments and shapes that several kinds share.
namespace engine::network {

#define HALFTONE_LAYER(name) LayerKind kind_##name();
#include "network/kinds.inc"
#undef HALFTONE_LAYER

namespace arg {

inline LayerArgument positional(LayerArgument argument) {
    argument.positional = true;
    return argument;
}
inline LayerArgument required(LayerArgument argument) {
    argument.positional = argument.required = true;
    return argument;
}
inline LayerArgument whole(const char* name, std::int64_t usual, const char* help, double lowest = 1,
                           double highest = std::numeric_limits<double>::infinity()) {
    return {option(name, name, usual, help, opt::between(lowest, highest))};
}
inline LayerArgument number(const char* name, double usual, const char* help,
                            double lowest = -std::numeric_limits<double>::infinity(),
                            double highest = std::numeric_limits<double>::infinity()) {
    return {option(name, name, usual, help, opt::between(lowest, highest))};
}
inline LayerArgument flag(const char* name, bool usual, const char* help) { return {option(name, name, usual, help)}; }
inline LayerArgument word(const char* name, const char* usual, std::vector<FieldChoice> choices, const char* help) {
    return {option(name, name, std::string(usual), help, opt::one_of(std::move(choices)))};
}
inline LayerArgument sizes(const char* name, std::vector<std::int64_t> usual, const char* help, double lowest = 1) {
    return {option(name, name, std::move(usual), help, opt::between(lowest, static_cast<double>(size_limit))), LayerArgument::Form::sizes};
}
inline LayerArgument list(const char* name, std::vector<std::int64_t> usual, const char* help,
                          LayerArgument::Form form = LayerArgument::Form::list) {
    return {option(name, name, std::move(usual), help), form};
}
inline LayerArgument initial(const char* name, const char* help) {
    return {option(name, name, std::string(), help), LayerArgument::Form::initial};
}
/// A dimension; negative ones count from the end.
inline LayerArgument dimension(const char* name, std::int64_t usual) {
    return whole(name, usual, "Dimension, from 0 (N); negative ones count from the end.", -Limits::dimensions, Limits::dimensions - 1);
}

}  // namespace arg

/// Leaves the shape as it is.
void same_shape(LayerCall& call);

/// Throws Failure for dimension 0.
void not_the_batch(const LayerCall& call, int dim);

/// Output of a window over `size` elements. Symbols stay where the window changes nothing.
Size window_output(const LayerCall& call, const Size& size, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                   std::int64_t after, std::int64_t dilation, bool ceil_mode);

/// The fault of a window that is larger than its input. check_network() adds a size of images that is large enough.
Message smaller_than_window(const std::string& kind = {}, const std::string& input = {});

/// The product, below 2^62. Throws Failure for symbols and larger ones.
std::int64_t product(const LayerCall& call, std::span<const Size> sizes);

/// The smallest divisors: "1, 2, 3 or 6".
std::string divisors_text(std::int64_t number);

inline Size number_size(std::int64_t number) { return {number, Size::Symbol::none}; }

/// uniform(-1/sqrt(fan_in), 1/sqrt(fan_in)): PyTorch's weights and biases of linear layers and convolutions.
InitialRule uniform_by_fan(double fan_in);

}  // namespace engine::network
