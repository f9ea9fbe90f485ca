#include "ops/norm/batch_counts.h"

#include <algorithm>
#include <span>

#include "kernels/scaler.h"

namespace engine {
namespace {

void add_one(std::span<std::int64_t* const> counts, const Device& device) {
    on(device, kernels::cpu::advance_step, kernels::cuda::advance_step)(counts, nullptr,
                                                                        current_stream());
}

}  // namespace

void count_batch(const Tensor& count) {
    if (BatchCounts* const all = ComputeContext::of_thread().batch_counts) return all->note(count);
    auto* const number = count.data_as<std::int64_t>();
    add_one({&number, 1}, count.device());
}

void BatchCounts::note(const Tensor& noted) {
    const bool again =
        std::ranges::any_of(seen_, [&](const Tensor& each) { return each.data() == noted.data(); });
    if (again) count();  // a layer was used twice: one kernel cannot add to a count twice
    seen_.push_back(noted);
}

void BatchCounts::count() {
    if (seen_.empty()) return;
    std::vector<std::int64_t*> numbers;
    for (const Tensor& each : seen_) numbers.push_back(each.data_as<std::int64_t>());
    add_one(numbers, seen_.front().device());
    seen_.clear();
}

}  // namespace engine
