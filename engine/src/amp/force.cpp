#include "amp/force.h"

#include <algorithm>

#include "amp/autocast.h"
#include "amp/dispatch.h"

namespace engine {
namespace {

/// Whether `module` is `outer` or lies inside it: "layer1" holds "layer1.0" and not "layer10".
bool holds(std::string_view outer, std::string_view module) {
    if (outer.empty()) return true;
    if (!module.starts_with(outer)) return false;
    return module.size() == outer.size() || module[outer.size()] == '.';
}

bool more_specific(const ForceRule& a, const ForceRule& b) {
    if (a.module.size() != b.module.size()) return a.module.size() > b.module.size();
    return !a.op.empty() && b.op.empty();
}

}  // namespace

ForceRules::ForceRules(std::vector<ForceRule> rules) : rules_(std::move(rules)) {
    std::stable_sort(rules_.begin(), rules_.end(), more_specific);
}

const ForceRule* ForceRules::find(std::string_view module, std::string_view op) const {
    const auto found = std::ranges::find_if(rules_, [&](const ForceRule& rule) {
        return holds(rule.module, module) && (rule.op.empty() || rule.op == op);
    });
    return found == rules_.end() ? nullptr : &*found;
}

ForceScope::ForceScope(std::shared_ptr<const ForceRules> rules) noexcept
    : rules_(std::move(rules)), before_(detail::set_force(rules_.get())) {}
ForceScope::~ForceScope() { detail::set_force(before_); }

}  // namespace engine
