#include "engine/instruments/skip_report.h"

#include <algorithm>

#include "engine/record/step_outcome.h"

namespace engine {
namespace {

/// More skips in a row than a scale that was set too high takes to come down.
constexpr std::size_t persistent = 12;

StepOutcome outcome_in(const SkippedStep& step) {
    return outcome_of(step.skipped, step.loss, step.grad_norm);
}

bool follows(const SkippedStep& before, const SkippedStep& step) {
    const bool same_cause =
        !before.report || !step.report || before.report->cause == step.report->cause;
    return step.step == before.step + 1 && outcome_in(step) == outcome_in(before) && same_cause;
}

bool is_bad_step(const SkippedStep& step) {
    if (step.report && step.report->cause == SkipCause::scale_too_large && step.skipped)
        return false;
    // An optimizer may make a weight non-finite from finite gradients.
    const bool applied_fault = !step.skipped;
    const bool other_cause = step.report && step.report->cause != SkipCause::unknown;
    return applied_fault || other_cause || is_bad(outcome_in(step));
}

}  // namespace

Message title(SkipCause cause) {
    switch (cause) {
        case SkipCause::unknown:
            return msg("Unknown");
        case SkipCause::damaged_state:
            return msg("Damaged state");
        case SkipCause::bad_input:
            return msg("Bad input");
        case SkipCause::forward_overflow:
            return msg("Forward overflow");
        case SkipCause::mathematical:
            return msg("Mathematical NaN");
        case SkipCause::scale_too_large:
            return msg("Scale too large");
        case SkipCause::optimizer:
            return msg("Optimizer");
    }
    return {};
}

Message SkipReport::verdict() const {
    switch (cause) {
        case SkipCause::unknown:
            return msg("No cause found: computed again, the step is finite.");
        case SkipCause::damaged_state:
            return msg("Damaged state: it was not finite before the step.");
        case SkipCause::bad_input:
            return msg("Bad input: the batch is not finite.");
        case SkipCause::forward_overflow:
            return msg("Forward overflow: a 16-bit tensor left the range of its type.");
        case SkipCause::mathematical:
            return msg("Mathematical NaN: the result is not finite at any scale.");
        case SkipCause::scale_too_large:
            return skipped ? msg("Benign: the scale was too large.")
                           : msg("The scale was too large, but the step was not skipped.");
        case SkipCause::optimizer:
            return msg("Optimizer: finite gradients made a weight non-finite.");
    }
    return {};
}

std::vector<SkipGroup> group_skips(const SkipList& skips) {
    std::vector<SkipGroup> out;
    for (std::size_t i = 0; i < skips.list.size(); ++i) {
        const SkippedStep& step = skips.list[i];
        if (out.empty() || !follows(skips.list[i - 1], step)) out.push_back({i, 0, false});
        ++out.back().count;
        out.back().bad = out.back().bad || is_bad_step(step);
    }
    for (SkipGroup& group : out) group.bad = group.bad || group.count >= persistent;
    return out;
}

std::optional<std::size_t> first_bad_step(const SkipList& skips) {
    const auto groups = group_skips(skips);
    const auto found = std::ranges::find(groups, true, &SkipGroup::bad);
    if (found == groups.end()) return std::nullopt;
    return found->first;
}

}  // namespace engine
