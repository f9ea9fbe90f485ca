#include "engine/pay_off.h"

#include <algorithm>
#include <cmath>

#include "instruments/peak_speed.h"
#include "store/median.h"
#include "train/bench_steps.h"

namespace engine {
namespace {

RunConfig with_preset(RunConfig config, const std::string& preset) {
    config.precision = PrecisionConfig{};
    config.precision.preset = preset;
    return config;
}

/// One side, with as many steps to a block as take `block_ms`.
class Side {
public:
    Side(const RunConfig& config, double block_ms) : steps_(config) {
        steps_.block(2);
        const double step_ms = std::min(steps_.block(1), steps_.block(1));
        count_ = std::max<std::int64_t>(1, std::lround(block_ms / std::max(step_ms, 1e-3)));
    }
    double block() { return steps_.block(count_); }
    std::int64_t peak_bytes() { return steps_.trainer().books()->peak(); }
    Device device() { return steps_.trainer().device(); }

private:
    BenchSteps steps_;
    std::int64_t count_ = 1;
};

StepParts scaled(const StepParts& parts, double step_ms) {
    const double by = parts.total() > 0 ? step_ms / parts.total() : 0;
    StepParts out = parts;
    for (double* part : {&out.products, &out.memory, &out.brief, &out.casts, &out.update})
        *part *= by;
    return out;
}

/// Milliseconds of a step, by block, of both sides in turns; empty if it was ended early.
struct Turns {
    std::vector<double> fp32, amp, ratios;
};
Turns take_turns(Side& fp32, Side& amp, const PayOffOptions& options) {
    Turns turns;
    for (std::int64_t pair = 0; pair < options.pairs; ++pair) {
        if (options.goes_on && !options.goes_on()) return {};
        turns.fp32.push_back(fp32.block());
        turns.amp.push_back(amp.block());
        turns.ratios.push_back(turns.fp32.back() / turns.amp.back());
    }
    return turns;
}

}  // namespace

std::vector<PayOff> measure_pay_off(const RunConfig& config, const PayOffOptions& options) {
    std::vector<PayOff> rows;
    const Xray plain = xray_first_step(with_preset(config, "fp32"));
    for (const std::string& precision : options.precisions) {
        const RunConfig mixed = with_preset(config, precision);
        PayOff row;
        row.model = config.model.kind;
        row.precision = precision;
        row.batch_size = config.batch_size;
        {
            Side fp32(with_preset(config, "fp32"), options.block_ms);
            Side amp(mixed, options.block_ms);
            const Turns turns = take_turns(fp32, amp, options);
            if (turns.ratios.empty()) return rows;
            row.fp32_ms = median(turns.fp32);
            row.amp_ms = median(turns.amp);
            row.speed_up = median(turns.ratios);
            row.least = *std::min_element(turns.ratios.begin(), turns.ratios.end());
            row.most = *std::max_element(turns.ratios.begin(), turns.ratios.end());
            row.fp32_bytes = fp32.peak_bytes();
            row.amp_bytes = amp.peak_bytes();
            row.peaks = peak_speeds(amp.device());
        }
        row.fp32 = scaled(parts_of(plain), row.fp32_ms);
        row.amp = scaled(parts_of(xray_first_step(mixed)), row.amp_ms);
        explain(row);
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace {

RunConfig settings(const std::string& dataset, const std::string& model, std::int64_t batch) {
    RunConfig config;
    config.dataset.kind = dataset;
    config.model.kind = model;
    config.batch_size = batch;
    return config;
}

}  // namespace

std::vector<RunConfig> pay_off_settings() {
    std::vector<RunConfig> all{
        settings("spirals", "mlp", 32),           settings("glyphs", "lenet", 128),
        settings("glyphs", "resnet18", 16),       settings("glyphs", "mobilenetv2", 16),
        settings("text-generated", "rnn-lm", 20), settings("text-generated", "transformer-lm", 16),
        settings("text-generated", "bert", 16),   settings("clicks-generated", "dlrm", 512),
        settings("glyphs", "autoencoder", 64)};
    for (RunConfig& config : all) {
        config.optimizer.kind = "sgd";
        config.schedule.kind = "constant";
        // With these DLRM's tables have sparse gradients.
        if (config.model.kind == "dlrm")
            config.optimizer.options = {{"momentum", 0.0}, {"weight_decay", 0.0}};
    }
    return all;
}

}  // namespace engine
