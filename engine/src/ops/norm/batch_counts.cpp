#include "ops/norm/batch_counts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/scaler.h"

namespace engine {
namespace {

thread_local BatchCounts* current = nullptr;

void add_one(std::span<std::int64_t* const> counts, const Device& device) {
    on(device, kernels::cpu::advance_step, kernels::cuda::advance_step)(counts, nullptr,
                                                                        current_stream());
}

}  // namespace

void count_batch(const Tensor& count) {
    if (current != nullptr) return current->note(count);
    auto* const number = count.data_as<std::int64_t>();
    add_one({&number, 1}, count.device());
}

BatchCounts::BatchCounts() : before_(std::exchange(current, this)) {}
BatchCounts::~BatchCounts() { current = before_; }

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
