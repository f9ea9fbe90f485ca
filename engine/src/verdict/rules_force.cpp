#include <algorithm>

#include "engine/settings/catalog.h"
#include "verdict/rules.h"

namespace engine {

void lint_forced(const LintSubject& subject, Findings& out) {
    static const std::vector<OpSummary> all = ops();
    for (const auto& [key, type] : subject.config.precision.force) {
        if (type != ForcedType::fp16) continue;
        const std::string op = key.substr(key.rfind(':') + 1);  // all of it without a colon
        const auto found = std::ranges::find(all, op, &OpSummary::name);
        if (found == all.end() || !found->policy.starts_with("f32")) continue;
        out.push_back({.id = "forced-fp16",
                       .severity = LintSeverity::warning,
                       .sentence = msg("{} is forced to FP16, though its policy is FP32", key),
                       .reason = found->why,
                       .handbook = "Operations that stay in FP32",
                       .fix = {"precision.force." + key + "=fp32"}});
    }
}

}  // namespace engine
