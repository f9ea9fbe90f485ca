#include "simt/handover.h"

#include <algorithm>

namespace kernels::simt {

void Handovers::fence(unsigned thread) noexcept {
    now_.fences = true;
    now_.unfenced[thread % now_.unfenced.size()] = 0;
    if (!now_.learnt.empty()) now_.learnt_fenced = true;
}

void Handovers::pass_barrier(std::uint64_t passed) {
    if (!now_.fences) return;
    if (std::ranges::find(now_.unfenced, 1) == now_.unfenced.end()) now_.through = passed;
    if (!now_.learnt_fenced) return;
    for (const Handover& each : now_.learnt) {
        std::uint64_t& barriers = now_.taken[each.block];
        barriers = std::max(barriers, each.barriers);
    }
    now_.learnt.clear();
    now_.learnt_fenced = false;
}

void Handovers::changed(std::uintptr_t word, std::uint64_t block) {
    if (!now_.fences) return;
    std::vector<Handover>& handed = by_word_[word];
    for (const Handover& each : handed)
        if (each.block != block) now_.learnt.push_back(each);
    if (!now_.learnt.empty()) now_.learnt_fenced = false;
    if (now_.through > 0) handed.push_back({block, now_.through});
}

bool Handovers::taken(std::uint64_t block, std::uint64_t barriers) const {
    const auto found = now_.taken.find(block);
    return found != now_.taken.end() && barriers < found->second;
}

}  // namespace kernels::simt
