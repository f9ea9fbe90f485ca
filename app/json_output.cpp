#include "json_output.h"

#include <algorithm>

#include "engine/base/json.h"

namespace app {

namespace {

using engine::dumped;
using engine::json_number;
using nlohmann::json;
using nlohmann::ordered_json;

template <typename List, typename Write>
json list(const List& all, const Write& write) {
    json out = json::array();
    for (const auto& each : all) out.push_back(write(each));
    return out;
}

json texts(const std::vector<engine::Message>& messages) {
    return list(messages, [](const engine::Message& message) { return message.str(); });
}

json cards_json(const engine::MachineReport& report) {
    return list(report.cards, [](const auto& card) {
        return json{{"name", card.name},
                    {"capability", card.capability},
                    {"generation", card.generation},
                    {"memory_bytes", card.memory_bytes}};
    });
}

json libraries_json(const engine::MachineReport& report) {
    return list(report.libraries, [](const auto& library) {
        return json{{"name", library.name},         {"found", library.found},
                    {"version", library.version},   {"cuda", library.cuda},
                    {"path", library.path},         {"problem", library.problem},
                    {"searched", library.searched}};
    });
}

json generations_json() {
    return list(engine::gpu_generations(), [](const auto& generation) {
        return json{{"name", generation.name}, {"cards", generation.cards},
                    {"runs", generation.runs}, {"fp16", generation.fp16},
                    {"bf16", generation.bf16}, {"tf32", generation.tf32},
                    {"note", generation.note.str()}};
    });
}

json gains_json(const engine::MachineReport& report) {
    return list(report.precisions, [](const auto& gain) {
        return json{{"precision", gain.precision}, {"pays", gain.pays}, {"why", gain.why.str()}};
    });
}

}  // namespace

std::string to_json(const engine::RunConfig& config, const engine::BenchResult& result,
                    const std::optional<engine::PlanProfile>& profile) {
    json out = {{"event", "bench"},
                {"precision", config.precision.preset},
                {"batch_size", config.batch_size},
                {"threads", result.threads},
                {"block_step_ms", result.block_step_ms},
                {"median_step_ms", result.median_step_ms},
                {"spread_ms", result.spread_ms},
                {"steps_per_s", result.steps_per_s},
                {"samples_per_s", result.samples_per_s},
                {"peak_bytes", result.peak_bytes},
                {"host_step_ms", result.host_step_ms},
                {"launches_a_step", result.launches_a_step},
                {"graph_nodes", result.graph_nodes},
                {"first_losses", result.first_losses},
                {"workers", config.workers},
                {"exchange_ms", result.exchange_ms},
                {"exchange_hidden_share", result.exchange_hidden_share},
                {"warnings", texts(result.warnings)}};
    if (profile) out["profile"] = json::parse(engine::to_json(*profile));
    return dumped(out);
}

std::string to_json(const engine::RunConfig& config, const engine::FoundBatch& found) {
    const json trials = list(found.trials, [](const auto& trial) {
        return json{{"batch_size", trial.batch_size},
                    {"predicted_bytes", trial.predicted_bytes},
                    {"peak_bytes", trial.peak_bytes},
                    {"step_ms", trial.step_ms},
                    {"fits", trial.fits}};
    });
    return dumped(json{{"event", "largest_batch"},
                       {"precision", config.precision.preset},
                       {"batch_size", found.batch_size},
                       {"at_least", found.at_search_limit()},
                       {"peak_bytes", found.peak_bytes},
                       {"too_large", found.too_large},
                       {"predicted", found.predicted},
                       {"memory", found.memory},
                       {"samples", found.samples},
                       {"fixed_bytes", found.fixed_bytes},
                       {"trials", trials},
                       {"warnings", texts(found.warnings)}});
}

std::string to_json(const engine::FoundRate& found) {
    const json points = list(found.points, [](const auto& point) {
        return json{{"lr", point.lr}, {"loss", point.loss}, {"smoothed", point.smoothed}};
    });
    json out = {{"event", "find_lr"}, {"points", points}, {"warnings", texts(found.warnings)}};
    out["valley"] = found.valley ? json(*found.valley) : json();
    out["steepest"] = found.steepest ? json(*found.steepest) : json();
    return dumped(out);
}

std::string to_json(const engine::MachineReport& report, const engine::LaunchFacts& launch,
                    const CudaVariables& variables) {
    return dumped(
        json{{"cpu", report.cpu},
             {"cores", report.cores},
             {"memory_bytes", report.memory_bytes},
             {"features", report.features},
             {"cpu_level", report.cpu_level},
             {"bf16_native", report.bf16_native},
             {"fp16_native", report.fp16_native},
             {"onednn", report.onednn},
             {"cuda",
              {{"built", report.cuda_built},
               {"present", report.cuda_present},
               {"note", report.cuda_note.str()},
               {"driver", report.cuda_driver},
               {"cards", cards_json(report)},
               {"libraries", libraries_json(report)},
               {"cublas_workspace_config", variables.cublas_workspaces},
               {"module_loading", variables.module_loading},
               {"plan_file", report.plan_file},
               {"measured_plans", report.measured_plans},
               {"generations", generations_json()}}},
             {"mpi",
              {{"built", launch.is_built},
               {"library", launch.mpi},
               {"file", launch.file},
               {"problem", launch.problem.str()},
               {"mpirun", launch.mpirun}}},
             {"precisions", gains_json(report)}});
}

namespace {

ordered_json verdict_object(const engine::Verdict& verdict) {
    ordered_json out = {{"tone", name(verdict.tone)}, {"headline", verdict.headline.str()}};
    out["cost"] = texts(verdict.cost);
    out["evidence"] = texts(verdict.evidence);
    if (!verdict.speedup.empty()) out["pay_off"] = verdict.speedup.str();
    out["details"] = verdict.details();
    return out;
}

/// The figures under the names of figures.md; the spread over seeds behind those that have one.
ordered_json row_object(const engine::ComparisonRow& row) {
    ordered_json out = {
        {"precision", row.precision}, {"seeds", row.seeds}, {"diverged", row.diverged}};
    const auto spread = [&](const std::string& key, const engine::MeanSpread& value) {
        out[key] = json_number(value.mean);
        if (row.seeds > 1) out[key + "_spread"] = json_number(value.spread);
    };
    spread("best_test_loss", row.best_test_loss);
    spread("last_test_loss", row.last_test_loss);
    if (!row.metric.key.empty()) {
        spread("best_test_" + row.metric.key, row.best_test_metric);
        spread("last_test_" + row.metric.key, row.last_test_metric);
    }
    spread("ms_per_step", row.step_ms);
    spread("samples_per_s", row.samples_per_s);
    out["speed_up"] = json_number(row.speed_up);
    out["peak_bytes"] = json_number(row.peak_bytes);
    out["updates"] = json_number(row.updates);
    out["skipped"] = json_number(row.skipped);
    out["growths"] = json_number(row.growths);
    return out;
}

}  // namespace

std::string to_json(const engine::Verdict& verdict) { return dumped(verdict_object(verdict)); }

std::string to_json(const std::vector<engine::ComparisonRow>& rows,
                    const std::vector<engine::Verdict>& verdicts, const std::string& unit) {
    ordered_json out = {{"event", "comparison"}, {"speed_unit", unit}};
    out["table"] = ordered_json::array();
    for (const auto& row : rows) out["table"].push_back(row_object(row));
    out["verdicts"] = ordered_json::array();
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        ordered_json each = {{"baseline", rows.front().precision},
                             {"precision", rows[i + 1].precision}};
        each.update(verdict_object(verdicts[i]));
        out["verdicts"].push_back(std::move(each));
    }
    return dumped(out);
}

std::string json_text(const std::string& text) { return dumped(json(text)); }

}  // namespace app
