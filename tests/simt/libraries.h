#pragma once

#include <cstdint>

/// The simulated device's cuBLASLt and cuDNN.
namespace kernels::simt {

struct LibrarySettings {
    bool bias_epilogue = true;  ///< products take a bias
    bool convolution = true;    ///< convolutions run
    bool convolution_bias = true;
    bool attention = true;             ///< its fused kernels run
    bool attention_backward = true;    ///< the gradient's too
    bool recurrent = true;             ///< recurrent networks are planned
    bool recurrent_runs = true;        ///< ... and not refused when they are to run
    bool recurrent_backward = true;    ///< ... nor their gradients
    bool recurrent_scattered = false;  ///< room between the gates' weights
    bool recurrent_wide = false;       ///< what is kept between steps is not rounded to 16 bits
};
void configure(const LibrarySettings& settings);
LibrarySettings library_settings();

/// Questions to the heuristics so far: plans that were made anew.
std::int64_t plans_made();
void count_plan();

}  // namespace kernels::simt
