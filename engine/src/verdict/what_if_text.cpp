#include <cmath>

#include "base/json_fields.h"
#include "engine/base/table.h"
#include "engine/number/figure_text.h"
#include "engine/verdict/what_if.h"

namespace engine {
namespace {

std::string scale_text(float scale) {
    return std::isnan(scale) ? "-" : power_text(static_cast<double>(scale));
}

/// "1.2 %", "≥ 1.2 %" where only the lower bound is known.
std::string lost_text(const WhatIf& policy) {
    const std::string least = number_text("%.3g %%", 100 * policy.lost_at_least);
    if (std::isnan(policy.lost_at_least)) return "-";
    if (std::isnan(policy.lost_at_most)) return "at least " + least;
    if (policy.lost_at_least == policy.lost_at_most) return least;
    return least + " to " + number_text("%.3g %%", 100 * policy.lost_at_most);
}

Cell step_cell(std::int64_t step) { return step == 0 ? Cell() : Cell(step); }

std::string floor_text(const WhatIf& policy) {
    if (policy.floors == 0) return "-";
    return std::to_string(policy.below_floor) + " of " + std::to_string(policy.floors);
}

}  // namespace

Message what_if_sentence(const WhatIf& policy, const WhatIf& recorded) {
    if (policy.steps == 0) return msg("The record holds no steps yet.");
    if (policy.policy.name == recorded.policy.name && policy.parts_at == 0) {
        return msg("The recorded policy skipped {} of {} steps.", recorded.skipped, recorded.steps);
    }
    if (policy.breaks_at != 0) {
        return msg(
            "{} would have applied gradients that are not finite at step {}: it never skips.",
            policy.policy.name, policy.breaks_at);
    }
    if (policy.unknown > 0) {
        return msg(
            "{} would have skipped {} of {} steps, the recorded policy {}; for {} of them the "
            "record cannot tell, since the largest gradient is not known.",
            policy.policy.name, policy.skipped, policy.steps, recorded.skipped, policy.unknown);
    }
    if (policy.parts_at == 0) {
        return msg("{} would have skipped the same {} of {} steps.", policy.policy.name,
                   policy.skipped, policy.steps);
    }
    return msg(
        "{} would have skipped {} of {} steps, the recorded policy {}; from step {} on the "
        "gradients of the recorded run stand for its own.",
        policy.policy.name, policy.skipped, policy.steps, recorded.skipped, policy.parts_at);
}

Message what_if_conclusion(const std::vector<WhatIf>& policies) {
    if (policies.empty() || policies.front().steps == 0)
        return msg("The record holds no steps yet.");
    const WhatIf& recorded = policies.front();
    if (policies.size() <= 2) return what_if_sentence(policies.back(), recorded);
    const WhatIf* best = nullptr;
    for (const WhatIf& each : policies) {
        const bool whole = each.breaks_at == 0 && each.policy.mode == ScalerMode::dynamic;
        if (whole && (best == nullptr || each.skipped < best->skipped)) best = &each;
    }
    if (best == nullptr || best->skipped == recorded.skipped)
        return msg(
            "No dynamic policy here would have skipped fewer steps than the recorded one: "
            "{} of {}.",
            recorded.skipped, recorded.steps);
    return what_if_sentence(*best, recorded);
}

std::string what_if_table(const std::vector<WhatIf>& policies) {
    Table table{{"policy", "skipped", "unknown", "updates", "parts at", "breaks at", "lowest",
                 "highest", "last", "lost to 0", "below floor"}};
    for (const WhatIf& each : policies) {
        table.rows.push_back({each.policy.name, each.skipped, each.unknown, each.updates(),
                              step_cell(each.parts_at), step_cell(each.breaks_at),
                              scale_text(each.lowest), scale_text(each.highest),
                              scale_text(each.last), lost_text(each), floor_text(each)});
    }
    return to_text(table, 1);
}

std::string to_json_line(const std::string& run, const WhatIf& policy, const Message& sentence) {
    ordered_json stairs = ordered_json::array();
    for (const ScaleStair& stair : policy.stairs)
        stairs.push_back({stair.first_step, stair.steps,
                          json_number(static_cast<double>(stair.scale)), name(stair.outcome)});
    const ScalerConfig& s = policy.policy.scaler;
    ordered_json out = {{"event", "what_if"}};
    FieldWriter{out}(
        "run", run, "policy", policy.policy.name, "scaler", word_of(policy.policy.mode),
        "init_scale", s.init_scale, "growth_factor", s.growth_factor,
        "backoff_factor", s.backoff_factor, "growth_interval", s.growth_interval,
        "min_scale", s.min_scale, "max_scale", s.max_scale, "hysteresis", s.hysteresis,
        "steps", policy.steps, "skipped", policy.skipped, "unknown", policy.unknown,
        "updates", policy.updates(), "parts_at", policy.parts_at, "breaks_at", policy.breaks_at,
        "lowest", policy.lowest, "highest", policy.highest, "last", policy.last,
        "lost_at_least", policy.lost_at_least, "lost_at_most", policy.lost_at_most,
        "floors", policy.floors, "below_floor", policy.below_floor, "sentence", sentence.str(),
        "stairs", stairs);
    return dumped(out);
}

}  // namespace engine
