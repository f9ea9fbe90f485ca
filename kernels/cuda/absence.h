#pragma once

#include <string>
#include <vector>

/// What a machine's devices and driver amount to, as plain data: the rules can be tested anywhere.
namespace kernels::cuda {

struct Card {
    int ordinal = 0;  ///< CUDA's number of it
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
};

struct Survey {
    int driver = 0;     ///< newest CUDA version that the driver runs, 13000 is 13.0; 0: no driver
    int runtime = 0;    ///< of this program
    std::string error;  ///< of the question for devices; empty: answered
    std::vector<Card> cards;
};

/// Turing: the oldest that this program has code for.
constexpr int least_major = 7, least_minor = 5;

/// Ordinals of the cards that can run our kernels.
std::vector<int> usable(const Survey& survey);
/// Why there are none; empty if there are.
std::string why_unusable(const Survey& survey);

}  // namespace kernels::cuda
