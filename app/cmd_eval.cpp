#include <algorithm>
#include <iostream>
#include <numeric>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/train/trained_model.h"
#include "find_run.h"
#include "terminal.h"

namespace app {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t hardest_samples = 24;  ///< in the JSON object
constexpr std::size_t printed_hardest = 5;   ///< below the table

struct EvalArguments {
    std::string run;
    std::string checkpoint = "last";
    std::string part = "test";
    std::string device = "auto";
    bool accept_data = false;
    bool json = false;
};

std::string class_name(const engine::TrainedModel& model, std::size_t index) {
    const auto& names = model.classes();
    return index < names.size() ? names[index] : std::to_string(index);
}

/// Name of the row for samples whose outputs are NaN.
constexpr const char* no_prediction = "no prediction";

std::string predicted_name(const engine::TrainedModel& model, const engine::HardSample& sample) {
    return sample.predicted < 0 ? no_prediction
                                : class_name(model, static_cast<std::size_t>(sample.predicted));
}

engine::Table class_figures(const engine::TrainedModel& model, const engine::PartReport& report) {
    engine::Table out{{"class", "samples", "precision", "recall", "f1"}};
    const auto share = [](double value) { return engine::finite_cell(value, "%.3f"); };
    for (std::size_t i = 0; i < report.confusion.size(); ++i)
        out.rows.push_back({class_name(model, i), report.support(i), share(report.precision(i)),
                            share(report.recall(i)), share(report.f1(i))});
    return out;
}

ordered_json hardest(const engine::TrainedModel& model, const engine::PartReport& report) {
    ordered_json list = ordered_json::array();
    for (const auto& sample : report.hardest) {
        ordered_json each = {{"index", sample.index}, {"loss", engine::finite_or_null(sample.loss)}};
        if (sample.label >= 0) {
            each["label"] = class_name(model, static_cast<std::size_t>(sample.label));
            each["predicted"] = predicted_name(model, sample);
            each["probability"] = engine::finite_or_null(sample.probability);
        } else {
            each["wanted"] = engine::finite_or_null(sample.wanted);
            each["predicted"] = engine::finite_or_null(sample.value);
        }
        list.push_back(std::move(each));
    }
    return list;
}

void print_json(const engine::TrainedModel& model, const engine::PartReport& report) {
    ordered_json object = {{"part", report.part},
                           {"step", model.step()},
                           {"samples", report.samples},
                           {"loss", engine::finite_or_null(report.figures.loss)}};
    for (const auto& metric : report.figures.metrics) object[metric.key] = engine::finite_or_null(metric.value);
    if (!report.confusion.empty()) {
        object["confusion"] = report.confusion;
        if (!report.unpredicted.empty()) object["no_prediction"] = report.unpredicted;
        object["classes"] = class_figures(model, report);
    }
    if (!report.hardest.empty()) object["hardest"] = hardest(model, report);
    for (const auto& note : report.notes) object["notes"].push_back(note.str());
    std::cout << engine::dumped(object) << '\n';
}

void print_table(const engine::TrainedModel& model, const engine::PartReport& report) {
    print_formatted("%s part, %lld samples, checkpoint of step %lld: loss %.4g",
                    report.part.c_str(), static_cast<long long>(report.samples),
                    static_cast<long long>(model.step()), report.figures.loss);
    for (const auto& metric : report.figures.metrics)
        print_formatted(", %s %.4g", engine::one_line(metric.key).c_str(), metric.value);
    print_formatted("\n");
    if (report.confusion.empty()) return;
    engine::Table table = class_figures(model, report);
    if (!report.unpredicted.empty())
        table.rows.push_back(
            {no_prediction,
             std::accumulate(report.unpredicted.begin(), report.unpredicted.end(), 0LL),
             engine::Cell(), engine::Cell(), engine::Cell()});
    std::cout << '\n' << to_text(table, 1);
    if (report.hardest.empty()) return;
    print_formatted("\nLargest losses (sample: label, predicted):\n");
    for (std::size_t i = 0; i < std::min(report.hardest.size(), printed_hardest); ++i) {
        const auto& sample = report.hardest[i];
        print_formatted(
            "  %lld: %s, %s (%.0f %%), loss %.3g\n", static_cast<long long>(sample.index),
            engine::one_line(class_name(model, static_cast<std::size_t>(sample.label))).c_str(),
            engine::one_line(predicted_name(model, sample)).c_str(), sample.probability * 100,
            sample.loss);
    }
}

int evaluate(const EvalArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    engine::TrainedModel model(run->summary.folder, args.checkpoint, args.device);
    const auto evaluated = [&] {
        WorkProgress progress("evaluating");
        const auto show = [&](double done) {
            progress.show(done);
            return true;
        };
        return model.evaluate(args.part, hardest_samples, show, args.accept_data);
    };
    const engine::PartReport report = evaluated();
    for (const auto& note : report.notes) std::cerr << "halftone: " << note.str() << '\n';
    if (args.json)
        print_json(model, report);
    else
        print_table(model, report);
    return 0;
}

}  // namespace

void describe_eval(Command command) {
    auto args = std::make_shared<EvalArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command.text("--checkpoint", args->checkpoint, "last (the default), best, or a number of steps")
        .not_empty().takes("last|best|STEP");
    command.text("--part", args->part, "test (the default) or validation").not_empty().takes("test|validation");
    command.text("--device", args->device, "auto, cpu, cuda or cuda:N").not_empty().takes("auto|cpu|cuda");
    command.flag("--accept-data", args->accept_data,
                 "Evaluate although the data set has another number of samples than the run had");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return evaluate(*args); });
}

}  // namespace app
