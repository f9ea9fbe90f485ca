#include "train/run/saved_run.h"

#include <algorithm>

#include "base/json_fields.h"
#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"
#include "runs/checkpoint.h"
#include "settings/config_reader.h"

namespace engine {

void list_fields(const auto& f, Is<MetricValue> auto& metric) {
    f("key", metric.key, "value", metric.value);
}

void list_fields(const auto& f, Is<PartFigures> auto& figures) {
    f("loss", figures.loss, "metrics", figures.metrics);
}

namespace {

void list_state(const auto& f, auto& saved) {
    f("run", saved.run, "best", saved.is_best, "counts", saved.training.counts, "scaler",
      saved.training.scaler, "progress", saved.progress, "alerts", saved.alerts, "best_metric",
      saved.best, "epoch_rules", saved.rules, "validation", saved.validation, "test", saved.test);
}

/// Adds a description for readers of the file; only `progress` and `counts` are read back.
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
    list_state(FieldReader{state}, out);
    out.config = parse_run_config(state.at("config").dump()).config;
    return out;
}

std::int64_t whole(const SavedNumbers& saved, const char* name) { return saved_count(saved, name); }

Message restored_weights(const SavedRun& saved, const StateChange& change) {
    const auto count = saved.training.weights.size();
    if (change.same_precision) return msg("Weights and buffers: {} tensors.", count);
    return msg("Weights and buffers: {} tensors, converted to the other precision.", count);
}

std::string optimizer_title(const RunConfig& config) {
    return title_of(optimizers(), config.optimizer.kind);
}

std::string saved_scale(const SavedRun& saved) {
    return power_text(saved_number(saved.training.scaler, "scale"));
}

Message restored_optimizer(const SavedRun& saved, const RunConfig& now, const StateChange& change) {
    const std::int64_t updates = whole(saved.training.counts, "updates");
    if (!change.same_optimizer) {
        return msg("Optimizer: {} starts afresh and replaces {}; {} updates count as applied.",
                   optimizer_title(now), optimizer_title(saved.config), updates);
    }
    const auto masters = std::ranges::count_if(saved.training.optimizer, [](const auto& entry) {
        return entry.first.ends_with(".master");
    });
    const std::string title = optimizer_title(now);
    if (masters == 0) return msg("Optimizer {}: state after {} updates.", title, updates);
    return msg("Optimizer {}: state after {} updates, with {} master weights.", title, updates,
               masters);
}

Message restored_scaler(const SavedRun& saved, const RunConfig& now) {
    const bool scales = resolve(now.precision).scaler == ScalerMode::dynamic;
    if (!scales) return msg("Loss scale: none, this precision has no dynamic scaler.");
    if (now.teach.resume_without_scaler && !saved.training.scaler.empty()) {
        return msg(
            "Loss scale: begins again at {}, on purpose (teach.resume_without_scaler); {} "
            "was saved.",
            power_text(now.scaler.init_scale), saved_scale(saved));
    }
    if (saved.training.scaler.empty())
        return msg("Loss scale: begins at {}.", power_text(now.scaler.init_scale));
    return msg("Loss scale {}, growth tracker {}.", saved_scale(saved),
               whole(saved.training.scaler, "growth_tracker"));
}

/// Forced types and recipes change how a step computes and not what is stored.
PrecisionConfig stored_precision(PrecisionConfig precision) {
    precision.force.clear();
    precision.recipe.reset();
    return precision;
}

}  // namespace

std::int64_t SavedRun::step() const { return saved_count(training.counts, "steps"); }

std::int64_t SavedRun::bytes() const {
    std::size_t bytes = 0;
    for (const TensorMap* map :
         {&training.weights, &training.optimizer, &training.carried, &training.quantization}) {
        for (const auto& [name, tensor] : *map) bytes += tensor.bytes();
    }
    return static_cast<std::int64_t>(bytes);
}

std::int64_t write_saved_run(const std::filesystem::path& run_folder, const SavedRun& saved,
                             const std::function<void()>& before_move) {
    nlohmann::ordered_json fields = {{"step", saved.step()},
                                     {"config", to_ordered_json(saved.config)}};
    list_state(FieldWriter{fields}, saved);
    json state = fields;
    describe(state, saved);
    return write_checkpoint(
        run_folder,
        {saved.training.weights, saved.training.optimizer, saved.training.carried,
         saved.training.quantization, std::make_shared<json>(std::move(state))},
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
        out.training.quantization = std::move(content.quantization);
        return out;
    } catch (const json::exception&) {
        throw Error(ErrorCode::data,
                    msg("{}: the checkpoint's state is incomplete", checkpoint.string()),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    }
}

StateChange change_of(const RunConfig& saved, const RunConfig& now) {
    return {.same_precision = stored_precision(saved.precision) == stored_precision(now.precision),
            .same_optimizer = saved.optimizer.kind == now.optimizer.kind};
}

std::vector<Message> restored_parts(const SavedRun& saved, const RunConfig& now) {
    const StateChange change = change_of(saved.config, now);
    const std::int64_t steps = saved.step();
    std::vector<Message> out = {
        restored_weights(saved, change),
        restored_optimizer(saved, now, change),
        restored_scaler(saved, now),
        msg("Learning-rate schedule: after {} applied updates.",
            whole(saved.training.counts, "updates")),
        msg("Data: continues with batch {} of epoch {}.", whole(saved.progress, "batch") + 1,
            whole(saved.progress, "epoch") + 1),
        msg("Random numbers: seed {}, after step {}.", saved.config.seed, steps)};
    if (!saved.training.carried.empty())
        out.push_back(msg("Carried state: {} tensors.", saved.training.carried.size()));
    const auto recipes_of = [](const RunConfig& config) {
        std::vector<std::string> names;
        for (const RecipeKind kind : resolve(config.precision).recipes())
            names.push_back(word_of(kind));
        return names.empty() ? word_of(RecipeKind::none) : join(names);
    };
    if (recipes_of(saved.config) != recipes_of(now))
        out.push_back(msg("Recipe: {} in place of {}.", recipes_of(now), recipes_of(saved.config)));
    else if (saved.config.quantize != now.quantize)
        out.push_back(msg("Recipe: with other settings than before."));
    if (recipes_of(now).find(word_of(RecipeKind::fp8_delayed)) != std::string::npos)
        out.push_back(now.teach.resume_without_history
                          ? msg("Scales of the recipe: begin at 1, on purpose "
                                "(teach.resume_without_history).")
                      : saved.training.quantization.empty()
                          ? msg("Scales of the recipe: begin at 1.")
                          : msg("Scales of the recipe: with their histories, where the layers and "
                                "the length are the same."));
    out.push_back(msg("Step record: up to step {}.", steps));
    return out;
}

}  // namespace engine
