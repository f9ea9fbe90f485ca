#include "tensor/restore.h"

#include <algorithm>
#include <set>

#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

/// Empty: `saved` can be written there.
std::string misfit(const Place& place, const Tensor& saved) {
    const DType wanted = place.tensor.dtype(), given = saved.dtype();
    if (!(saved.shape() == place.tensor.shape()))
        return " has shape " + to_string(saved.shape()) + ", not " +
               to_string(place.tensor.shape());
    if (place.exact ? wanted != given : is_floating(wanted) != is_floating(given))
        return std::string(" is ") + name(given) + ", not " + name(wanted);
    return {};
}

void overwrite(const Tensor& target, const Tensor& value) {
    const DeviceScope scope(target.device());
    const Tensor here = dense(value.detach()).copy_to(target.device());
    copy_into(target, to(here, target.dtype()));
    target.bump_version();
    if (const auto& low = target.impl()->low_copy) {
        copy_into(low->tensor, to(target.detach(), low->tensor.dtype()));
        low->tensor.bump_version();
        low->version = target.version();
    }
}

}  // namespace

Tensor snapshot(const Tensor& x) {
    const DeviceScope scope(x.device());
    const Tensor rows = in_layout(x.detach(), Layout::contiguous);
    const Tensor host = Tensor::empty(x.shape(), x.dtype(), Device{});
    copy_to_host(host.data(), rows.data(), rows.bytes(), rows.device());
    return host;
}

std::vector<std::string> all_misfits(const std::vector<Place>& places, const TensorMap& saved) {
    std::vector<std::string> wrong;
    std::set<std::string> known;
    for (const Place& place : places) {
        known.insert(place.name);
        const auto found = saved.find(place.name);
        if (found != saved.end()) {
            const std::string why = misfit(place, found->second);
            if (!why.empty()) wrong.push_back(place.name + why);
        } else if (!place.may_be_missing) {
            wrong.push_back(place.name + " is missing");
        }
    }
    for (const auto& [name, value] : saved) {
        if (!known.contains(name)) wrong.push_back(name + " is unknown");
    }
    return wrong;
}

std::string first_of(const std::vector<std::string>& misfits) {
    constexpr std::size_t max_named = 5;
    std::string out;
    for (std::size_t i = 0; i < std::min(misfits.size(), max_named); ++i)
        out += (i == 0 ? "" : "; ") + misfits[i];
    if (misfits.size() > max_named)
        out += "; and " + std::to_string(misfits.size() - max_named) + " more";
    return out;
}

void fill(const std::vector<Place>& places, const TensorMap& saved) {
    const GradMode off(false);
    for (const Place& place : places) {
        const auto found = saved.find(place.name);
        if (found != saved.end()) overwrite(place.tensor, found->second);
    }
}

}  // namespace engine
