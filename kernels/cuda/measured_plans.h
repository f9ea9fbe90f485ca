#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cuda/plan_race.h"

/// Choice of a library's algorithm by measurement, for convolutions, products and recurrent
/// networks.
namespace kernels::cuda {

/// An operation, and the algorithms that the library offers for it.
struct Contest {
    std::string operation;  ///< its shapes, strides, types and rules: the same text in every run
    std::string library;    ///< as LibraryInfo::name
    std::vector<std::string> names;  ///< of the algorithms, the library's first choice first
    /// Computes it by one of them. What it writes may be written again, by each of them.
    RaceRun run;
};

/// The algorithm that a run on this machine has found the fastest; nothing if none has.
std::optional<std::string> stored_winner(const std::string& operation, const std::string& library);

/// Chooses the algorithm: the stored winner, else the winner of a race, which is then stored.
/// Nothing during a capture if no winner is stored, because a race would break the capture: the
/// caller uses the library's first choice. That is also chosen where algorithms must be bit-stable
/// but no winner can be stored, since winners of races differ from run to run.
std::optional<std::size_t> settle(const Contest& contest, Stream stream);

/// Calls f, which gives work to the device: false if it throws DeviceError, as an algorithm does
/// that the library cannot run after all. Throws it on if the device was lost by it.
bool runs(const std::function<bool()>& f);

/// "1x2x3"
template <class Numbers>
std::string text_of(const Numbers& numbers) {
    std::string out;
    for (const auto number : numbers) out += (out.empty() ? "" : "x") + std::to_string(number);
    return out;
}

}  // namespace kernels::cuda
