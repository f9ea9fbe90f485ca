#include "core/refusals.h"

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

using kernels::RefusalNote;

/// Of one GPU.
struct DeviceRefusals {
    std::mutex mutex;
    RefusalNote* note = nullptr;        // on the device
    std::vector<RefusalNote*> unused;   // pinned words that no look has
    std::atomic<bool> checked{false};   // since the last look
    std::atomic<bool> recorded{false};  // in some graph: a replay checks without our knowing
};
struct AllRefusals {
    std::mutex mutex;
    std::map<int, std::unique_ptr<DeviceRefusals>> devices;
    std::map<std::string, std::uint32_t> numbers;  // of the rules, by their words
    std::vector<Refusal> rules;
};
AllRefusals& all() {
    static auto* only = new AllRefusals;  // to the end of the process
    return *only;
}

DeviceRefusals& of(const Device& device) {
    const std::lock_guard lock(all().mutex);
    auto& found = all().devices[device.index];
    if (!found) found = std::make_unique<DeviceRefusals>();
    return *found;
}

/// The number of a rule, from 1. A note has room for a limited number of rules; all further ones
/// share the last number, whose message is general.
std::uint32_t number_of(const Refusal& rule) {
    const std::string words = rule.before + '\n' + rule.after + '\n' + (rule.whole ? 'i' : 'f');
    AllRefusals& known = all();
    const std::lock_guard lock(known.mutex);
    if (const auto at = known.numbers.find(words); at != known.numbers.end()) return at->second;
    const auto next = static_cast<std::uint32_t>(known.rules.size() + 1);
    if (next == kernels::most_refusal_rules) return next;
    known.rules.push_back(rule);
    return known.numbers[words] = next;
}

/// The word. The calling thread computes on the device.
RefusalNote* note_of(DeviceRefusals& here) {
    const std::lock_guard lock(here.mutex);
    if (!here.note) here.note = kernels::cuda::refusal_word();
    return here.note;
}

Error made(const Refusal& rule, const std::string& value) {
    return {ErrorCode::value, rule.before + value + rule.after, rule.hint};
}

}  // namespace

Error Refusal::error(std::int64_t value) const { return made(*this, std::to_string(value)); }
Error Refusal::error(double value) const { return made(*this, std::to_string(value)); }

kernels::RefusalPlace refusal_place(const Refusal& rule, const Device& device) {
    const DeviceScope scope(device);
    DeviceRefusals& here = of(device);
    const kernels::RefusalPlace place{note_of(here), number_of(rule)};
    (kernels::cuda::capturing(current_stream()) ? here.recorded : here.checked) = true;
    return place;
}

RefusalNote* refusal_note(const Device& device) {
    if (device.kind == Device::Kind::cpu) return nullptr;
    const DeviceScope scope(device);
    return note_of(of(device));
}

std::optional<Error> refusal_in(RefusalNote note) {
    if (note == 0) return std::nullopt;
    if (kernels::rule_of(note) == kernels::most_refusal_rules)
        return Error(ErrorCode::value, "an operation received an out-of-range value");
    const auto rule = [&] {
        const std::lock_guard lock(all().mutex);
        return all().rules.at(kernels::rule_of(note) - 1);
    }();
    if (!rule.whole) return rule.error(kernels::value_of(note));
    const std::int64_t value = kernels::whole_value_of(note);
    if (value == kernels::least_noted) return made(rule, std::to_string(value) + " or less");
    if (value == kernels::largest_noted) return made(rule, std::to_string(value) + " or more");
    return rule.error(value);
}

void forget_refusals(const Device& device) noexcept {
    if (device.kind == Device::Kind::cpu) return;
    try {
        DeviceRefusals& here = of(device);
        if (!here.checked.exchange(false) && !here.recorded) return;
        const DeviceScope scope(device);
        kernels::cuda::set_zero(here.note, sizeof(RefusalNote), current_stream());
    } catch (...) {  // a failed device throws again at its next use
    }
}

void release_unused_looks() {
    std::vector<RefusalNote*> leaving;  // given back without the locks: the driver may wait
    {
        AllRefusals& known = all();
        const std::lock_guard lock(known.mutex);
        for (auto& [index, here] : known.devices) {
            const std::lock_guard words(here->mutex);
            leaving.insert(leaving.end(), here->unused.begin(), here->unused.end());
            here->unused.clear();
        }
    }
    for (RefusalNote* seen : leaving) kernels::cuda::release_pinned(seen);
}

RefusalLook::RefusalLook(const Device& device) : device_(device) {
    DeviceRefusals& here = of(device);
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
        seen_ = static_cast<RefusalNote*>(kernels::cuda::allocate_pinned(sizeof(RefusalNote)));
    here.checked = false;  // before the copy: what is noted after it is for the next look
    kernels::cuda::copy_to_host(seen_, here.note, sizeof(RefusalNote), current_stream());
}

RefusalLook::~RefusalLook() {
    if (!seen_) return;
    DeviceRefusals& here = of(device_);
    const std::lock_guard lock(here.mutex);
    here.unused.push_back(seen_);
}

void RefusalLook::finish() {
    if (!seen_) return;
    const std::optional<Error> error = refusal_in(*seen_);
    if (!error) return;
    kernels::cuda::set_zero(of(device_).note, sizeof(RefusalNote), current_stream());
    throw *error;
}

}  // namespace engine
