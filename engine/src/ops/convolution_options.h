#pragma once

#include "ops/convolution.h"

namespace engine {

/// Numbers for each dimension of space.
struct Steps {
    Dims stride, padding, dilation;
};

/// `values` as one for each of `dims` dimensions; a single one holds for all. Error(value) names
/// the op and the option.
Dims one_each(const OpInfo& info, const char* option, const std::vector<std::int64_t>& values,
              int dims);
/// Checked: stride, dilation and groups start at 1, padding at 0.
Steps steps_of(const OpInfo& info, int dims, const std::vector<std::int64_t>& stride,
               const std::vector<std::int64_t>& padding, const std::vector<std::int64_t>& dilation,
               std::int64_t groups);

/// Options of a call through `halftone op`. padding may be "same" or "valid".
ConvolutionOptions convolution_options(const OpArguments& args);
ConvTransposeOptions conv_transpose_options(const OpArguments& args);
/// Whether padding is a word.
bool has_padding_word(const OpArguments& args);

}  // namespace engine
