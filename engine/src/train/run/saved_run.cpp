#include "train/run/saved_run.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "record/json_number.h"
#include "runs/checkpoint.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

using nlohmann::json;

json object_of(const SavedNumbers& numbers) {
    json object = json::object();
    for (const auto& [name, value] : numbers) object[name] = json_number(value);
    return object;
}

SavedNumbers numbers_of(const json& object) {
    SavedNumbers out;
    for (const auto& [name, value] : object.get_ref<const json::object_t&>())
        out[name] = number_of(value);
    return out;
}

json object_of(const PartFigures& figures) {
    json object = {{"loss", json_number(figures.loss)}};
    object["metrics"] = json::array();
    for (const MetricValue& metric : figures.metrics)
        object["metrics"].push_back({{"key", metric.key}, {"value", json_number(metric.value)}});
    return object;
}

PartFigures figures_of(const json& object) {
    PartFigures figures;
    figures.loss = number_of(object.at("loss"));
    for (const json& metric : object.at("metrics"))
        figures.metrics.push_back(
            {metric.at("key").get<std::string>(), number_of(metric.at("value"))});
    return figures;
}

/// For readers of the file: `progress` and `counts` are what is read back.
void describe(json& state, const SavedRun& saved) {
    const double steps = saved.training.counts.at("steps");
    state["random"] = {{"generator", "philox4x32-10"},
                       {"seed", saved.config.seed},
                       {"position", json_number(steps)}};
    state["data"] = {{"epoch", json_number(saved.progress.at("epoch"))},
                     {"batch", json_number(saved.progress.at("batch"))}};
    state["schedule"] = {{"kind", saved.config.schedule.kind},
                         {"updates", json_number(saved.training.counts.at("updates"))}};
}

SavedRun parse(const json& state) {
    SavedRun out;
    out.run = state.at("run").get<std::string>();
    out.is_best = state.at("best").get<bool>();
    out.config = parse_run_config(state.at("config").dump()).config;
    out.training.counts = numbers_of(state.at("counts"));
    out.training.scaler = numbers_of(state.at("scaler"));
    out.progress = numbers_of(state.at("progress"));
    out.alerts = numbers_of(state.at("alerts"));
    out.best = numbers_of(state.at("best_metric"));
    out.rules = numbers_of(state.at("epoch_rules"));
    out.validation = figures_of(state.at("validation"));
    out.test = figures_of(state.at("test"));
    return out;
}

}  // namespace

std::int64_t SavedRun::step() const { return saved_count(training.counts, "steps"); }

std::int64_t SavedRun::bytes() const {
    std::size_t bytes = 0;
    for (const TensorMap* map : {&training.weights, &training.optimizer, &training.carried}) {
        for (const auto& [name, tensor] : *map) bytes += tensor.bytes();
    }
    return static_cast<std::int64_t>(bytes);
}

std::int64_t write_saved_run(const std::filesystem::path& run_folder, const SavedRun& saved,
                             const std::function<void()>& before_move) {
    json state = {{"run", saved.run}, {"step", saved.step()}, {"best", saved.is_best}};
    state["config"] = to_ordered_json(saved.config);
    state["counts"] = object_of(saved.training.counts);
    state["scaler"] = object_of(saved.training.scaler);
    state["progress"] = object_of(saved.progress);
    state["alerts"] = object_of(saved.alerts);
    state["best_metric"] = object_of(saved.best);
    state["epoch_rules"] = object_of(saved.rules);
    state["validation"] = object_of(saved.validation);
    state["test"] = object_of(saved.test);
    describe(state, saved);
    return write_checkpoint(run_folder,
                            {saved.training.weights, saved.training.optimizer,
                             saved.training.carried, std::make_shared<json>(std::move(state))},
                            before_move);
}

SavedRun read_saved_run(const std::filesystem::path& checkpoint) {
    CheckpointContent content = read_checkpoint(checkpoint);
    try {
        SavedRun out = parse(*content.state);
        if (out.step() != content.state->at("step").get<std::int64_t>())
            throw Error(ErrorCode::data,
                        msg("{}: the checkpoint's state is incomplete", checkpoint.string()),
                        msg("Resume from an earlier checkpoint of the run (--from)."));
        out.training.weights = std::move(content.weights);
        out.training.optimizer = std::move(content.optimizer);
        out.training.carried = std::move(content.carried);
        return out;
    } catch (const json::exception&) {
        throw Error(ErrorCode::data,
                    msg("{}: the checkpoint's state is incomplete", checkpoint.string()),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    }
}

}  // namespace engine
