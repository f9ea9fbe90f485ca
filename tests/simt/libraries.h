#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// The simulated device's cuBLASLt and cuDNN.
namespace kernels::simt {

struct LibrarySettings {
    bool bias_epilogue = true;  ///< products take a bias
    bool convolution = true;    ///< convolutions run
    bool convolution_bias = true;
    bool convolution_wide = true;            ///< sums of 16 bits are stored in f32
    std::size_t convolution_scratch = 1000;  ///< of the first engine; the second's is 1000
    bool attention = true;                   ///< its fused kernels run
    bool attention_backward = true;          ///< the gradient's too
    bool recurrent = true;                   ///< recurrent networks are planned
    bool recurrent_runs = true;              ///< ... and not refused when they are to run
    bool recurrent_backward = true;          ///< ... nor their gradients
    bool recurrent_scattered = false;        ///< room between the gates' weights
    bool recurrent_wide = false;  ///< what is kept between steps is not rounded to 16 bits
};
void configure(const LibrarySettings& settings);
LibrarySettings library_settings();
/// Another after each configure().
int library_generation();

/// Questions to the heuristics so far: plans that were made anew.
std::int64_t plans_made();
void count_plan();
/// Those of convolutions and attention that there are, and descriptions of recurrent networks.
std::int64_t plans_alive();

/// Lets the next `times` plans of convolutions and attention fail, with this text; those of
/// recurrent networks find no memory.
void fail_plans(const std::string& text, int times);
/// That of the plan about to be made; empty: it can be.
std::string plan_problem();

}  // namespace kernels::simt
