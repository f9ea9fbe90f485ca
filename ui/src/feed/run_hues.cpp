#include "feed/run_hues.h"

#include <algorithm>
#include <map>

namespace ui {

namespace {

constexpr int ownColors = 5;  // Tokens::own

}  // namespace

std::vector<RunHue> runHues(const std::vector<std::string>& precisions) {
    std::map<std::string, int> counts;
    for (const std::string& each : precisions) ++counts[each];
    const bool other =
        std::ranges::any_of(counts, [](const auto& kind) { return kind.second > 2; });
    std::vector<RunHue> out;
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < precisions.size(); ++i) {
        const int at = static_cast<int>(i);
        out.push_back(other ? RunHue{at % ownColors, at / ownColors % 2 == 1}
                            : RunHue{-1, seen[precisions[i]]++ > 0});
    }
    return out;
}

}  // namespace ui
