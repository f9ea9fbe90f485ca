#include "engine/runs/run_group.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/runs/run_listing.h"
#include "runs/stored_run.h"

namespace engine {
namespace {

constexpr std::string_view sweep_prefix = "sweep-";
constexpr std::string_view queued_prefix = "comparison-";

template <typename Wanted>
GroupRuns picked(std::span<const RunSummary> history, Wanted wanted) {
    GroupRuns out;
    std::ranges::copy_if(history, std::back_inserter(out), wanted);
    std::ranges::reverse(out);
    return out;
}

bool any_is(std::span<const RunSummary> runs, std::string_view state) {
    return std::ranges::any_of(runs, [&](const RunSummary& run) { return run.state == state; });
}

/// The words that people wrote, where all runs have the same ones.
std::string common_title(const GroupRuns& runs) {
    const bool common = std::ranges::all_of(
        runs, [&](const RunSummary& run) { return run.title == runs.front().title; });
    return common ? runs.front().title : std::string();
}

}  // namespace

std::string group_name(std::int64_t number) { return "g" + std::to_string(number); }

std::optional<std::int64_t> number_in_group_name(std::string_view name) {
    if (name.size() < 2 || name.front() != 'g' || name[1] < '1' || name[1] > '9')
        return std::nullopt;
    return to_number<std::int64_t>(name.substr(1));
}

bool is_sweep_group(std::string_view group) { return group.starts_with(sweep_prefix); }

std::string new_queued_comparison() { return std::string(queued_prefix) + new_run_group(); }

bool is_queued_comparison(std::string_view group) { return group.starts_with(queued_prefix); }

GroupRuns runs_of_group(std::span<const RunSummary> history, std::string_view group) {
    if (group.empty()) return {};
    return picked(history, [&](const RunSummary& run) { return run.group == group; });
}

GroupRuns runs_of_group(std::span<const RunSummary> history, std::int64_t number) {
    if (number <= 0) return {};
    return picked(history, [&](const RunSummary& run) { return run.group_number == number; });
}

std::string common_group(std::span<const RunSummary> runs) {
    if (runs.empty()) return {};
    const std::string& group = runs.front().group;
    const bool common =
        std::ranges::all_of(runs, [&](const RunSummary& run) { return run.group == group; });
    return common ? group : std::string();
}

Message group_title(const RunSummary& one) {
    return is_sweep_group(one.group) ? msg("Sweep {}", one.group_number)
                                     : msg("Comparison {}", one.group_number);
}

std::string group_state(std::span<const RunSummary> runs) {
    for (const char* state : {"running", "interrupted", "stopped", "failed"})
        if (any_is(runs, state)) return state;
    const auto is_missing = [](const RunSummary& run) { return run.state == missing_state; };
    if (!runs.empty() && std::ranges::all_of(runs, is_missing)) return missing_state;
    return any_is(runs, "done") || !any_is(runs, "diverged") ? "done" : "diverged";
}

bool is_unfinished(const RunSummary& run) {
    return run.state == interrupted_state || run.state == "stopped" || run.state == "failed";
}

std::string group_page(const GroupRuns& runs) {
    std::string out = group_title(runs.front()).str() + " (" +
                      group_name(runs.front().group_number) + "), " + std::to_string(runs.size()) +
                      (runs.size() == 1 ? " run" : " runs") + ", " + group_state(runs) + '\n';
    if (const std::string title = common_title(runs); !title.empty())
        out += "title: " + one_line(title) + '\n';
    return out + '\n' + runs_table(runs) + (runs.size() > 1 ? '\n' + runs_page(runs) : "");
}

std::string group_json_line(const GroupRuns& runs) {
    nlohmann::ordered_json ids = nlohmann::ordered_json::array();
    for (const RunSummary& run : runs) ids.push_back(run.run);
    const RunSummary& first = runs.front();
    const nlohmann::ordered_json object = {
        {"event", "group"},
        {"name", group_name(first.group_number)},
        {"kind", is_sweep_group(first.group) ? "sweep" : "comparison"},
        {"state", group_state(runs)},
        {"title", common_title(runs)},
        {"runs", ids}};
    return dumped(object);
}

}  // namespace engine
