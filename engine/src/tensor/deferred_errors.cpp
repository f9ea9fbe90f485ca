#include "tensor/deferred_errors.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

using kernels::DeferredError;

/// Deferred errors of one GPU.
struct DeviceErrors {
    std::mutex mutex;
    DeferredError* note = nullptr;       // on the device
    std::vector<DeferredError*> unused;  // pinned words that no look has
    std::atomic<bool> checked{false};    // since the last look
    std::atomic<bool> recorded{false};   // in some graph: a replay checks without our knowing
};
struct AllDeferredErrors {
    std::mutex mutex;
    std::map<int, std::unique_ptr<DeviceErrors>> devices;
    std::map<std::string, std::uint32_t> numbers;  // of the rules, by their words
    std::vector<ValueRule> rules;
};
AllDeferredErrors& all() {
    static auto* only = new AllDeferredErrors;  // to the end of the process
    return *only;
}

DeviceErrors& of(const Device& device) {
    const std::lock_guard lock(all().mutex);
    auto& found = all().devices[device.index];
    if (!found) found = std::make_unique<DeviceErrors>();
    return *found;
}

/// The number of a rule, from 1. A note has room for a limited number of rules; all further ones
/// share the last number, whose message is general.
std::uint32_t number_of(const ValueRule& rule) {
    const std::string words = rule.before + '\n' + rule.after + '\n' + (rule.whole ? 'i' : 'f');
    AllDeferredErrors& known = all();
    const std::lock_guard lock(known.mutex);
    if (const auto at = known.numbers.find(words); at != known.numbers.end()) return at->second;
    const auto next = static_cast<std::uint32_t>(known.rules.size() + 1);
    if (next == kernels::max_deferred_rules) return next;
    known.rules.push_back(rule);
    return known.numbers[words] = next;
}

/// The word. The calling thread computes on the device.
DeferredError* note_of(DeviceErrors& here) {
    const std::lock_guard lock(here.mutex);
    if (!here.note) here.note = kernels::cuda::deferred_error_word();
    return here.note;
}

Error made(const ValueRule& rule, const std::string& value) {
    return {ErrorCode::value, rule.before + value + rule.after, rule.hint};
}

}  // namespace

Error ValueRule::error(std::int64_t value) const { return made(*this, std::to_string(value)); }
Error ValueRule::error(double value) const { return made(*this, std::to_string(value)); }

kernels::DeferredErrorPlace deferred_error_place(const ValueRule& rule, const Device& device) {
    const DeviceScope scope(device);
    DeviceErrors& here = of(device);
    const kernels::DeferredErrorPlace place{note_of(here), number_of(rule)};
    (kernels::cuda::capturing(current_stream()) ? here.recorded : here.checked) = true;
    return place;
}

DeferredError* deferred_error_word_of(const Device& device) {
    if (device.kind == Device::Kind::cpu) return nullptr;
    const DeviceScope scope(device);
    return note_of(of(device));
}

std::optional<Error> deferred_error_in(DeferredError note) {
    if (note == 0) return std::nullopt;
    if (kernels::rule_of(note) == kernels::max_deferred_rules)
        return Error(ErrorCode::value, "an operation received an out-of-range value");
    const auto rule = [&] {
        const std::lock_guard lock(all().mutex);
        return all().rules.at(kernels::rule_of(note) - 1);
    }();
    if (!rule.whole) return rule.error(kernels::value_of(note));
    const std::int64_t value = kernels::whole_value_of(note);
    if (value == kernels::min_noted) return made(rule, std::to_string(value) + " or less");
    if (value == kernels::max_noted) return made(rule, std::to_string(value) + " or more");
    return rule.error(value);
}

void clear_deferred_errors(const Device& device) noexcept {
    if (device.kind == Device::Kind::cpu) return;
    try {
        DeviceErrors& here = of(device);
        if (!here.checked.exchange(false) && !here.recorded) return;
        const DeviceScope scope(device);
        kernels::cuda::set_zero(here.note, sizeof(DeferredError), current_stream());
    } catch (...) {  // a failed device throws again at its next use
    }
}

void release_unused_looks() {
    std::vector<DeferredError*> leaving;  // given back without the locks: the driver may wait
    {
        AllDeferredErrors& known = all();
        const std::lock_guard lock(known.mutex);
        for (auto& [index, here] : known.devices) {
            const std::lock_guard words(here->mutex);
            leaving.insert(leaving.end(), here->unused.begin(), here->unused.end());
            here->unused.clear();
        }
    }
    for (DeferredError* seen : leaving) kernels::cuda::release_pinned(seen);
}

DeferredErrorCheck::DeferredErrorCheck(const Device& device) : device_(device) {
    DeviceErrors& here = of(device);
    if (!here.checked && !here.recorded) return;
    if (kernels::cuda::capturing(current_stream())) return;  // the copy will be refused
    {
        const std::lock_guard lock(here.mutex);
        if (!here.unused.empty()) {
            seen_ = here.unused.back();
            here.unused.pop_back();
        }
    }
    if (!seen_)
        seen_ = static_cast<DeferredError*>(kernels::cuda::allocate_pinned(sizeof(DeferredError)));
    here.checked = false;  // before the copy: what is noted after it is for the next look
    kernels::cuda::copy_to_host(seen_, here.note, sizeof(DeferredError), current_stream());
}

DeferredErrorCheck::~DeferredErrorCheck() {
    if (!seen_) return;
    DeviceErrors& here = of(device_);
    const std::lock_guard lock(here.mutex);
    here.unused.push_back(seen_);
}

void DeferredErrorCheck::finish() {
    if (!seen_) return;
    const std::optional<Error> error = deferred_error_in(*seen_);
    if (!error) return;
    kernels::cuda::set_zero(of(device_).note, sizeof(DeferredError), current_stream());
    throw *error;
}

}  // namespace engine
