#include <cmath>
#include <iostream>
#include <limits>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/instruments/microscope.h"
#include "engine/number/figure_text.h"
#include "engine/record/histogram_record.h"
#include "engine/record/step_record.h"
#include "find_run.h"
#include "terminal.h"

namespace app {
namespace {

using engine::ExponentHistogram;
using engine::HistogramKind;
using engine::HistogramSample;
using engine::LayerHistogram;
using nlohmann::ordered_json;

struct MicroscopeArguments {
    std::string run;
    std::int64_t step = 0;
    std::string kind = "gradients";
    std::optional<std::string> scale;
    std::optional<std::string> dump;
    bool shadow = false;
    bool json = false;
};

/// The histograms of one kind of a step, and the scale at which they are shown.
struct View {
    HistogramSample sample;
    HistogramKind kind;
    double scale;   ///< the loss scale that gradients are shown at; 1 for other kinds
    double factor;  ///< what the counted values are multiplied by for it
    std::int64_t asked;
    double own = 1;  ///< the loss scale of the step; a shadow pass counts gradients at 1
};

constexpr const engine::NumberFormat& fp16 = engine::fp16_format;

[[noreturn]] void refuse(engine::Message message, engine::Message hint = {}) {
    throw engine::Error(engine::ErrorCode::settings, std::move(message), std::move(hint));
}

double scale_of(const std::string& text) {
    const auto value = engine::to_number<double>(text);
    if (!value || !(*value > 0) || !std::isfinite(*value))
        refuse(engine::msg("--scale: {}: use a number above 0", text));
    return *value;
}

HistogramSample sample_of(const std::filesystem::path& folder, const MicroscopeArguments& args) {
    if (args.dump)
        return engine::dump_histogram_tensors(folder, args.step, args.shadow, *args.dump);
    if (args.shadow) return engine::shadow_histograms(folder, args.step);
    const auto none = [&] {
        refuse(engine::msg("the run has no histograms"),
               engine::msg("Compute the step again with --shadow, or train with "
                           "instruments.histograms_every."));
    };
    if (!engine::HistogramRecordReader::exists(folder)) none();
    const auto reader = engine::HistogramRecordReader::open(folder);
    const auto nearest = reader.nearest(args.step);
    if (!nearest) none();
    return reader.read(*nearest);
}

double own_scale(const std::filesystem::path& folder, const HistogramSample& sample) {
    if (!sample.shadow) return sample.loss_scale;
    const auto record = engine::StepRecordReader::open(folder);
    const std::int64_t row = record.size() > 0 ? sample.step - record.row(0).step : -1;
    if (row < 0 || row >= record.size()) return sample.loss_scale;
    return static_cast<double>(record.row(row).loss_scale);
}

View view_of(const std::filesystem::path& folder, const MicroscopeArguments& args) {
    const auto kind = engine::value_of_name<HistogramKind>(args.kind);
    if (!kind)
        refuse(
            engine::msg("--kind: {}: use gradients, activations, weights or updates", args.kind));
    const bool gradients = *kind == HistogramKind::gradients;
    if (args.scale && !gradients)
        refuse(engine::msg("--scale: only gradients are multiplied by the loss scale"));
    const double scale = args.scale ? scale_of(*args.scale) : 0;
    View view{sample_of(folder, args), *kind, 1, 1, args.step};
    if (!gradients) return view;
    view.own = own_scale(folder, view.sample);
    view.scale = scale > 0 ? scale : view.own;
    view.factor = view.scale / view.sample.loss_scale;
    return view;
}

/// "0.12 %"; "<0.01 %" for a share that would show as 0.
engine::Cell percent(double share) {
    if (share > 0 && share < 5e-5) return "<0.01 %";
    return {100 * share, "%.2f %%"};
}

engine::Table::Row cells(const View& view, const std::string& layer,
                         const ExponentHistogram& values, bool flushed) {
    const engine::FormatOutcome out = outcome(values, fp16, view.factor);
    const auto total = static_cast<double>(values.total());
    return {layer,
            values.total(),
            engine::magnitude_text(values.largest * view.factor),
            engine::magnitude_text(values.smallest * view.factor),
            percent(total > 0 ? static_cast<double>(values.zero) / total : 0),
            percent(out.share(out.zero)),
            percent(out.share(out.subnormal)),
            percent(out.share(out.overflow)),
            engine::Cell(headroom_up(values, fp16, view.factor), "%.1f"),
            engine::Cell(headroom_down(values, fp16, view.factor), "%.1f"),
            flushed ? "flushed" : ""};
}

/// Limits of the loss scale. The counted gradients were multiplied by the step's scale, so it is a
/// factor of both.
double floor_of(const View& view) {
    if (view.sample.flushed(view.kind)) return std::nan("");
    return smallest_scale(view.sample.total(view.kind), fp16) * view.sample.loss_scale;
}
double ceiling_of(const View& view) {
    return largest_scale(view.sample.total(view.kind), fp16) * view.sample.loss_scale;
}

void print_scale(const View& view) {
    const auto limit = [](double scale, std::string (*write)(double)) {
        return std::isnan(scale) ? std::string("unknown") : write(scale);
    };
    print_formatted("\nloss scale: smallest %s, largest %s, in this step %s\n",
                    limit(floor_of(view), engine::power_text).c_str(),
                    limit(ceiling_of(view), engine::scale_limit_text).c_str(),
                    engine::power_value_text(view.own).c_str());
    if (view.sample.flushed(view.kind))
        print_formatted(
            "flushed: FP16 rounded gradients of the layer to 0 before they could be "
            "counted; --shadow gives the true picture\n");
}

void print_table(const View& view) {
    print_formatted("step %lld%s, %s", static_cast<long long>(view.sample.step),
                    view.sample.shadow ? " (shadow pass in FP32)" : "",
                    name(view.kind));
    if (view.kind == HistogramKind::gradients)
        print_formatted(" at loss scale %s", engine::power_text(view.scale).c_str());
    if (view.sample.step != view.asked)
        print_formatted("; step %lld was not kept, this is the nearest",
                        static_cast<long long>(view.asked));
    engine::Table table{{"layer", "values", "largest", "least", "zero", "to zero", "subnorm.",
                         "overflow", "up", "down", ""}};
    for (const LayerHistogram& layer : view.sample.layers)
        if (layer.kind == view.kind)
            table.rows.push_back(cells(view, layer.layer, layer.values, layer.flushed));
    table.rows.push_back(cells(view, "all layers", view.sample.total(view.kind), false));
    std::cout << "\n\n" << to_text(table, 1);
    print_formatted(
        "\nFP16, of the non-zero values: to zero, subnormal, overflow; up, down: how often "
        "the values\nmay double before one overflows, or halve before more than 0.1 %% are "
        "lost\n");
    if (view.kind == HistogramKind::gradients) print_scale(view);
}

ordered_json figures(const View& view, const ExponentHistogram& values) {
    ordered_json out = {{"values", values.total()},
                        {"zero", values.zero},
                        {"below", values.below},
                        {"infinite", values.infinite},
                        {"nan", values.nan},
                        {"largest", engine::finite_or_null(values.largest)},
                        {"smallest", engine::finite_or_null(values.smallest)},
                        {"bins", values.bins}};
    for (const engine::NumberFormat* format : engine::histogram_formats()) {
        const engine::FormatOutcome at = outcome(values, *format, view.factor);
        out[std::string(format->name)] = {
            {"to_zero", at.share(at.zero)},
            {"subnormal", at.share(at.subnormal)},
            {"overflow", at.share(at.overflow)},
            {"overflows", at.overflows},
            {"headroom_up", engine::finite_or_null(headroom_up(values, *format, view.factor))},
            {"headroom_down", engine::finite_or_null(headroom_down(values, *format, view.factor))}};
    }
    return out;
}

void print_json(const View& view) {
    ordered_json out = {{"step", view.sample.step},
                        {"asked", view.asked},
                        {"shadow", view.sample.shadow},
                        {"kind", name(view.kind)},
                        {"loss_scale", view.sample.loss_scale},
                        {"scale", view.scale},
                        {"first_exponent", ExponentHistogram::first_exponent},
                        {"layers", ordered_json::array()}};
    for (const LayerHistogram& layer : view.sample.layers) {
        if (layer.kind != view.kind) continue;
        ordered_json each = {
            {"layer", layer.layer}, {"type", name(layer.type)}, {"flushed", layer.flushed}};
        each.update(figures(view, layer.values));
        out["layers"].push_back(std::move(each));
    }
    out["total"] = figures(view, view.sample.total(view.kind));
    if (view.kind == HistogramKind::gradients) {
        out["scale_floor"] = engine::finite_or_null(floor_of(view));
        out["scale_ceiling"] = engine::finite_or_null(ceiling_of(view));
    }
    std::cout << engine::dumped(out) << '\n';
}

int look(const MicroscopeArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    const View view = view_of(run->summary.folder, args);
    if (args.json)
        print_json(view);
    else
        print_table(view);
    return 0;
}

}  // namespace

void describe_microscope(Command command) {
    auto args = std::make_shared<MicroscopeArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command.number("STEP", args->step, "A step of the run; shows the nearest one with histograms")
        .required()
        .within(1, std::numeric_limits<std::int64_t>::max());
    command.text("--kind", args->kind, "gradients (the default), activations, weights or updates")
        .not_empty().takes("gradients|activations|weights|updates");
    command.flag("--shadow", args->shadow,
                 "Compute this step again in FP32, to show what FP16 rounded away");
    command
        .text("--scale", args->scale, "Show gradients at this loss scale instead of the step's own")
        .not_empty();
    command
        .text("--dump", args->dump,
              "Compute this step again and write the counted tensors of all four kinds to this "
              "folder, as safetensors")
        .not_empty().takes("FOLDER");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return look(*args); });
}

}  // namespace app
