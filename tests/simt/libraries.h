#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The simulated device's cuBLASLt and cuDNN.
namespace kernels::simt {

struct LibrarySettings {
    bool bias_epilogue = true;  ///< products support a bias
    bool relu_epilogue = true;  ///< products support relu
    bool relu_keeps_nan = true;
    bool sums_epilogue = true;  ///< products support the sums of an operand
    bool convolution = true;    ///< convolutions are supported
    bool convolution_bias = true;
    bool convolution_wide = true;            ///< f32 sums of 16-bit operands are supported
    std::size_t convolution_scratch = 1000;  ///< of the first engine; the second needs 1000
    std::size_t racers_scratch = 0;          ///< of all racers but the first; 0: as the first
    bool attention = true;                   ///< fused attention is supported
    bool attention_backward = true;          ///< so is its gradient
    std::size_t attention_scratch = std::size_t{1} << 30;  ///< attention_scratch_limit()
    std::size_t cudnn_version = 91900;                     ///< by which attention has its faults
    bool recurrent = true;                                 ///< recurrent networks are planned
    bool recurrent_runs = true;                            ///< ... and run without an error
    bool recurrent_backward = true;                        ///< ... so do their gradients
    bool recurrent_scattered = false;                      ///< gaps between the gates' weights
    bool recurrent_wide = false;  ///< values kept between steps are not rounded to 16 bits
    /// Milliseconds that each algorithm of a product or engine of a convolution takes, and each
    /// algorithm of a recurrent network for a forward pass, in the order of Algorithm. Their
    /// results have the same bits. A negative one is offered and fails. Empty: there is one, and it
    /// does not wait.
    std::vector<int> algorithm_ms{};
    int unstable = 0;  ///< so many of them, the last ones, differ from run to run
    int unnamed = 0;   ///< so many of them, the last ones, are known and not offered
};
void configure(const LibrarySettings& settings);
LibrarySettings library_settings();
/// A number that changes with each configure().
int library_generation();

/// The number of queries of the heuristics so far, which is the number of plans created.
std::int64_t plans_made();
void count_plan();
/// The number of existing plans of convolutions and attention, and descriptions of recurrent
/// networks.
std::int64_t plans_alive();

/// Passes of attention that have been given to a stream.
std::int64_t attention_runs();
void count_attention_run();

/// Which algorithm has run as the last, and how many runs there have been.
struct AlgorithmRuns {
    int last = -1;
    std::int64_t count = 0;
};
AlgorithmRuns algorithm_runs();
/// For the libraries: waits as long as the algorithm takes, and counts it.
void run_algorithm(int algorithm);
/// Whether it is one that fails.
bool fails(int algorithm);
/// The numbers of all, and of those offered.
std::vector<int> algorithms_known();
std::vector<int> algorithms_offered(bool bit_stable);

/// Makes the next `times` plans of convolutions and attention fail with this text; those of
/// recurrent networks run out of memory.
void fail_plans(const std::string& text, int times);
/// The error of the plan that is about to be created; empty: none.
std::string plan_problem();

}  // namespace kernels::simt
