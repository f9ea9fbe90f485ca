#include "settings/setting_errors.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/settings/catalog.h"

namespace engine {
namespace {

std::map<std::string, std::size_t> field_order() {
    std::map<std::string, std::size_t> order;
    for (const FieldInfo& info : fields()) order.emplace(info.path, order.size());
    return order;
}

}  // namespace

void SettingErrors::add(std::string_view field, std::string value, Message allowed) {
    fields_.emplace(field);
    if (!is_full()) errors_.push_back({std::string(field), std::move(value), std::move(allowed)});
}

std::vector<SettingError> SettingErrors::take() {
    const auto order = field_order();
    const auto rank = [&order](const SettingError& error) {
        const auto at = order.find(error.field);
        return at == order.end() ? 0 : at->second + 1;
    };
    std::stable_sort(errors_.begin(), errors_.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return std::move(errors_);
}

}  // namespace engine
