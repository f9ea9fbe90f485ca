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
    std::string results;
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

/// AP of each class, by masks where the model has some.
engine::Table class_precisions(const engine::DetectionReport& report) {
    engine::Table out{{"class", "instances", "AP", "AP50", "AP75"}};
    const auto& classes = report.primary().classes;
    const auto share = [](double value) { return engine::finite_cell(value, "%.3f"); };
    for (std::size_t i = 0; i < classes.size(); ++i)
        out.rows.push_back({report.classes[i], classes[i].truths, share(classes[i].ap),
                            share(classes[i].ap50), share(classes[i].ap75)});
    return out;
}

/// COCO's twelve figures, by boxes and by masks.
engine::Table all_precisions(const engine::DetectionReport& report) {
    engine::Table out{{"figure", "box"}};
    if (report.masks) out.columns.emplace_back("mask");
    for (std::size_t i = 0; i < engine::precision_figures.size(); ++i) {
        out.rows.push_back({engine::precision_figures[i],
                            engine::finite_cell(report.boxes.values[i], "%.4f")});
        if (report.masks)
            out.rows.back().push_back(engine::finite_cell(report.masks->values[i], "%.4f"));
    }
    return out;
}

ordered_json figures_json(const engine::PrecisionFigures& figures,
                          const std::vector<std::string>& names) {
    ordered_json out, classes = ordered_json::array();
    for (std::size_t i = 0; i < figures.values.size(); ++i)
        out[engine::precision_figures[i]] = engine::finite_or_null(figures.values[i]);
    const auto curve = [](const auto& values) {
        ordered_json list = ordered_json::array();
        for (const double each : values) list.push_back(engine::finite_or_null(each));
        return list;
    };
    for (std::size_t i = 0; i < figures.classes.size(); ++i) {
        const engine::ClassPrecision& each = figures.classes[i];
        classes.push_back({{"class", names[i]},
                           {"instances", each.truths},
                           {"AP", engine::finite_or_null(each.ap)},
                           {"AP50", engine::finite_or_null(each.ap50)},
                           {"AP75", engine::finite_or_null(each.ap75)}});
        if (each.truths == 0) continue;
        classes.back()["precision_by_recall_50"] = curve(each.curve50);
        classes.back()["precision_by_recall_75"] = curve(each.curve75);
    }
    out["classes"] = std::move(classes);
    return out;
}

ordered_json detections_json(const engine::DetectionReport& report) {
    const auto name = [&](std::int32_t label) {
        return label == 0 ? std::string("background")
                          : report.classes.at(static_cast<std::size_t>(label - 1));
    };
    ordered_json out = {{"boxes", figures_json(report.boxes, report.classes)}};
    if (report.masks) out["masks"] = figures_json(*report.masks, report.classes);
    out["best_f1"] = {{"score", report.best.score},
                      {"f1", report.best.f1},
                      {"precision", report.best.precision},
                      {"recall", report.best.recall}};
    for (const auto& [pair, count] : report.confusions)
        out["confusion"].push_back(
            {{"truth", name(pair[0])}, {"detected", name(pair[1])}, {"count", count}});
    for (const engine::PictureErrors& each : report.errors)
        out["most_errors"].push_back({{"index", each.sample},
                                      {"missed", each.missed},
                                      {"false_scores", each.false_scores}});
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
    if (report.detections) object["detections"] = detections_json(*report.detections);
    for (const auto& file : report.files) object["results"].push_back(file.string());
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
    if (report.detections)
        std::cout << '\n' << to_text(all_precisions(*report.detections), 1) << '\n'
                  << to_text(class_precisions(*report.detections), 1);
    for (const auto& file : report.files)
        std::cout << engine::one_line(file.string()) << " is written\n";
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
        return model.evaluate(args.part, hardest_samples, show, args.accept_data,
                              args.results);
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
    command
        .text("--results", args->results,
              "Detectors: write the detections as COCO's results, NAME.bbox.json and, with "
              "masks, NAME.segm.json")
        .not_empty()
        .takes("NAME");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return evaluate(*args); });
}

}  // namespace app
