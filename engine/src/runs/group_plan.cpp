#include "engine/runs/group_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/json_reader.h"
#include "base/text_utf8.h"
#include "engine/base/error.h"
#include "io/file/atomic_file.h"

namespace engine {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr char plan_file[] = "group.json";
constexpr std::size_t max_plan_bytes = 4 << 20;
constexpr std::size_t max_runs = 256;

/// The settings of another run of the comparison.
RunConfig changed(RunConfig config, const std::string& precision, std::int64_t seed) {
    config.precision = {};
    config.precision.preset = precision;
    config.seed = seed;
    return config;
}

RunConfig valid_settings(const nlohmann::json& settings) {
    ParsedConfig parsed = parse_run_config(settings.dump());
    if (!parsed.errors.empty()) throw std::invalid_argument(parsed.errors.front().str());
    return std::move(parsed.config);
}

std::optional<GroupPlan> read_plan(const fs::path& run_folder) {
    std::error_code error;
    const fs::path file = run_folder / plan_file;
    if (!fs::exists(file, error)) return std::nullopt;
    try {
        const nlohmann::json read = read_json_file(file, {.bytes = max_plan_bytes});
        GroupPlan plan;
        const RunConfig shared = valid_settings(read.at("settings"));
        for (const auto& each : read.at("runs")) {
            RunConfig config = each.contains("settings")
                                   ? valid_settings(each.at("settings"))
                                   : changed(shared, each.at("precision").get<std::string>(),
                                             each.at("seed").get<std::int64_t>());
            if (!validate(config).empty()) return std::nullopt;
            plan.runs.push_back({std::move(config), each.value("folder", std::string())});
        }
        if (read.contains("twin")) {
            const auto& twin = read.at("twin");
            plan.twin = TwinOptions{twin.at("resync_every").get<std::int64_t>(),
                                    twin.at("skip_together").get<bool>(),
                                    twin.value("share_proposals", false)};
        }
        return plan;
    } catch (const std::exception&) {
        return std::nullopt;  // the runs can go on without it
    }
}

/// Runs of a comparison differ in nothing else.
bool is_run_of(const GroupPlan::Run& planned, const RunSummary& run) {
    return run.config.seed == planned.config.seed &&
           run.config.precision.preset == planned.config.precision.preset;
}

}  // namespace

std::string group_plan_json(const GroupPlan& plan) {
    if (plan.runs.empty() || plan.runs.size() > max_runs) return {};
    ordered_json out = {{"version", 1},
                        {"settings", ordered_json::parse(to_json(plan.runs.front().config))},
                        {"runs", ordered_json::array()}};
    for (const auto& run : plan.runs) {
        ordered_json each = {{"precision", run.config.precision.preset}, {"seed", run.config.seed}};
        // They may differ in more, such as types that are forced in one of them.
        const RunConfig usual = changed(plan.runs.front().config, run.config.precision.preset,
                                        run.config.seed);
        if (run.config != usual) each["settings"] = ordered_json::parse(to_json(run.config));
        // Without one that JSON cannot hold, a run that is begun later goes into the history.
        const std::string place = run.folder.string();
        if (!place.empty() && first_bad_byte(place) == place.size()) each["folder"] = place;
        out["runs"].push_back(std::move(each));
    }
    if (plan.twin)
        out["twin"] = {{"resync_every", plan.twin->resync_every},
                       {"skip_together", plan.twin->skip_together},
                       {"share_proposals", plan.twin->share_proposals}};
    return out.dump(1);
}

void keep_group_plan(const fs::path& run_folder, const std::string& json) {
    write_file(run_folder / plan_file, json + '\n');
}

std::optional<GroupPlan> plan_of_group(std::span<const RunSummary> runs) {
    for (const RunSummary& run : runs)
        if (auto plan = read_plan(run.folder)) return plan;
    return std::nullopt;
}

std::vector<GroupPlan::Run> unstarted_runs(const GroupPlan& plan,
                                           std::span<const RunSummary> runs) {
    std::vector<GroupPlan::Run> left = plan.runs;
    for (const RunSummary& run : runs) {
        const auto its = std::ranges::find_if(
            left, [&](const GroupPlan::Run& planned) { return is_run_of(planned, run); });
        if (its != left.end()) left.erase(its);
    }
    return left;
}

void drop_from_plan(std::span<const RunSummary> others, const RunSummary& deleted) {
    for (const RunSummary& run : others) {
        auto plan = read_plan(run.folder);
        if (!plan) continue;
        const auto its = std::ranges::find_if(
            plan->runs, [&](const GroupPlan::Run& planned) { return is_run_of(planned, deleted); });
        if (its == plan->runs.end()) continue;
        plan->runs.erase(its);
        try {
            if (const std::string json = group_plan_json(*plan); !json.empty())
                keep_group_plan(run.folder, json);
        } catch (const Error&) {
            continue;  // another user's folder: the run can then be begun once more
        }
    }
}

bool is_twin(std::span<const RunSummary> runs) {
    const auto compared = [](const RunSummary& run) { return TwinRecordReader::exists(run.folder); };
    if (runs.size() == 2 && std::ranges::any_of(runs, compared)) return true;
    const auto plan = plan_of_group(runs);
    return plan && plan->twin && runs.size() <= 2;
}

}  // namespace engine
