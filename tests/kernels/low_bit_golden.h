#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/small_float.h"
#include "support/golden_lines.h"

namespace kernels::low_bits {

inline const std::map<std::string, FloatLayout> layouts{
    {"fp8-e4m3", fp8_e4m3_layout},           {"fp8-e5m2", fp8_e5m2_layout},
    {"fp8-e4m3-ieee", fp8_e4m3_ieee_layout}, {"fp8-e4m3fnuz", fp8_e4m3fnuz_layout},
    {"fp8-e5m2fnuz", fp8_e5m2fnuz_layout},   {"fp4-e2m1", fp4_e2m1_layout}};

inline std::vector<std::vector<std::string>> cases(const std::string& kind) {
    return test_support::golden_lines("low_bits.txt.xz", kind);
}

/// Hexadecimal words from `first` on; "7fx3" stands for three.
inline std::vector<std::uint64_t> numbers(const std::vector<std::string>& words,
                                          std::size_t first) {
    std::vector<std::uint64_t> out;
    for (std::size_t i = first; i < words.size(); ++i) {
        const auto times = words[i].find('x');
        const auto count = times == std::string::npos ? 1 : std::stoull(words[i].substr(times + 1));
        out.insert(out.end(), count, std::stoull(words[i].substr(0, times), nullptr, 16));
    }
    return out;
}

}  // namespace kernels::low_bits
