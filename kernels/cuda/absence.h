#pragma once

#include <string>
#include <vector>

/// Summary of a machine's devices and driver, as plain data: the rules can be tested anywhere.
namespace kernels::cuda {

struct Card {
    int ordinal = 0;  ///< CUDA's number of it
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    bool has_code = true;      ///< this program holds code that the card and its driver can run
};

struct Survey {
    int driver = 0;     ///< newest CUDA version that the driver runs, 13000 is 13.0; 0: no driver
    int runtime = 0;    ///< of this program
    std::string error;  ///< of the question for devices; empty: answered
    std::vector<Card> cards;
};

/// Turing: the oldest that can be compiled for.
constexpr int min_major = 7, min_minor = 5;

/// Whether one of the architectures (900: 9.0) has machine code that the card runs: of the same
/// major version and no newer minor one. PTX of an older one may do as well, if the driver compiles
/// it, which only the driver knows.
bool has_machine_code(const Card& card, const std::vector<int>& architectures);
/// Ordinals of the cards that can run our kernels.
std::vector<int> usable(const Survey& survey);
/// Why there are none; empty if there are.
std::string why_unusable(const Survey& survey);

}  // namespace kernels::cuda
