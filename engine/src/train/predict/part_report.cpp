#include "train/predict/part_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/loader/batch_loader.h"
#include "data/loader/sample_picture.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "train/predict/hard_samples.h"
#include "train/run/run_data.h"
#include "train/run/run_evaluation.h"

namespace engine {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Where the batch's rows lie in the part, of which damaged samples were left out.
std::vector<std::int64_t> places_in_part(const Batch& batch) {
    std::vector<std::int64_t> out;
    auto gone = batch.replaced.begin();
    for (std::int64_t row = 0; std::ssize(out) < batch.rows(); ++row) {
        if (gone != batch.replaced.end() && gone->row == row)
            ++gone;
        else
            out.push_back(batch.position + row);
    }
    return out;
}

/// Evaluates the samples of a part, one batch after another.
class Reporter {
public:
    Reporter(const Schema& schema, const std::string& task, std::size_t hardest)
        : hardest_(hardest) {
        const FieldSpec* label = schema.find(FieldKind::label);
        const FieldSpec* value = schema.find(FieldKind::value);
        if (predicts_classes(task)) {
            label_ = schema.index(label->name);
            classes_ = static_cast<std::size_t>(label->cardinality);
            confusion_.assign(classes_, std::vector<std::int64_t>(classes_));
            unpredicted_.assign(classes_, 0);
        } else if (value != nullptr && value->shape.numel() == 1) {
            value_ = schema.index(value->name);
            spec_ = *value;
        }
    }

    void see(const Batch& batch, const Tensor& predicted) {
        places_ = places_in_part(batch);
        if (classes_ > 0) return see_classes(batch, predicted.values());
        if (!spec_.name.empty()) see_values(batch, predicted.values());
    }
    void finish(PartReport& report) {
        report.confusion = std::move(confusion_);
        if (std::ranges::any_of(unpredicted_, [](std::int64_t samples) { return samples > 0; }))
            report.unpredicted = std::move(unpredicted_);
        report.hardest = hardest_.take();
    }

private:
    void see_classes(const Batch& batch, const std::vector<double>& scores) {
        const auto labels = batch.fields[label_].values<std::int64_t>();
        for (std::size_t row = 0; row < labels.size(); ++row) {
            HardSample sample =
                judged_by(std::span(scores).subspan(row * classes_, classes_), labels[row]);
            sample.index = places_[row];
            const auto label = static_cast<std::size_t>(sample.label);
            ++(sample.predicted < 0
                   ? unpredicted_[label]
                   : confusion_[label][static_cast<std::size_t>(sample.predicted)]);
            hardest_.see(std::move(sample));
        }
    }
    void see_values(const Batch& batch, const std::vector<double>& predicted) {
        const auto wanted = batch.fields[value_].values<float>();
        for (std::size_t row = 0; row < wanted.size(); ++row) {
            std::vector<double> both{static_cast<double>(wanted[row]), predicted[row]};
            HardSample sample;
            sample.loss = (both[0] - both[1]) * (both[0] - both[1]);
            in_original_units(spec_, both);
            sample.wanted = both[0];
            sample.value = both[1];
            sample.index = places_[row];
            hardest_.see(std::move(sample));
        }
    }

    std::vector<std::int64_t> places_;  // in the part, of the batch's rows
    std::size_t label_ = 0, value_ = 0;
    std::size_t classes_ = 0;
    FieldSpec spec_;
    std::vector<std::vector<std::int64_t>> confusion_;
    std::vector<std::int64_t> unpredicted_;
    HardSamples hardest_;
};

/// The sample's image as it is in the data set; empty if it has none.
Picture picture_of(const DataPart& part, std::int64_t index) {
    const Schema& schema = part.data->schema();
    const FieldSpec* image = schema.find(FieldKind::image);
    if (image == nullptr) return {};
    std::vector<float> pixels(static_cast<std::size_t>(image->shape.numel()));
    std::vector<SampleFields::Place> places(schema.fields.size());
    places[schema.index(image->name)] = {.data = reinterpret_cast<std::byte*>(pixels.data()),
                                         .bytes = pixels.size() * sizeof(float)};
    part.data->read(part.sample(index), SampleFields(places));
    return picture_of_pixels(*image, pixels);
}

const DataPart& part_named(const DataParts& data, const std::string& name) {
    if (name != "test" && name != "validation")
        throw Error(ErrorCode::settings, msg("{}: use test or validation", name));
    const DataPart& part = name == "test" ? data.test : data.validation;
    if (part.size() == 0) throw Error(ErrorCode::data, msg("the data set has no {} part", name));
    return part;
}

void begin_files(PassResults* results, const std::filesystem::path& name) {
    if (results == nullptr)
        throw Error(ErrorCode::settings,
                    msg("{}: the task of this run has no results to write: object detection has",
                        name.string()));
    results->write_to(name);
}

}  // namespace

bool predicts_classes(const std::string& task) {
    const TaskDescriptor* kind = find_kind(tasks(), task);
    return kind != nullptr && kind->predicts_classes;
}

double PartReport::precision(std::size_t of_class) const {
    std::int64_t all = 0;
    for (const auto& row : confusion) all += row[of_class];
    if (all == 0) return undefined;
    return static_cast<double>(confusion[of_class][of_class]) / static_cast<double>(all);
}

std::int64_t PartReport::support(std::size_t of_class) const {
    return std::accumulate(confusion[of_class].begin(), confusion[of_class].end(),
                           unpredicted.empty() ? std::int64_t{0} : unpredicted[of_class]);
}

double PartReport::recall(std::size_t of_class) const {
    const std::int64_t all = support(of_class);
    if (all == 0) return undefined;
    return static_cast<double>(confusion[of_class][of_class]) / static_cast<double>(all);
}

double PartReport::f1(std::size_t of_class) const {
    const double p = precision(of_class), r = recall(of_class);
    if (std::isnan(p) || std::isnan(r)) return undefined;
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

PartReport report_on(Predictor& predictor, const EvaluatedRun& run, const std::string& name,
                     std::size_t hardest, const std::function<bool(double)>& progress) {
    const RunData data = open_run_data(run.folder, run.config, DataUse::evaluate, run.accept_data);
    const DataPart& part = part_named(data.parts, name);
    const Schema& schema = predictor.task().schema(false);
    const LoaderOptions options = evaluation_options(run.config, predictor.task(), part);
    const DeviceScope scope(predictor.device());
    const AccountingScope accounting(predictor.context().accounting());
    const auto feed = make_ring_feed(predictor.device(), schema);
    BatchLoader loader(part, schema, options);
    Reporter reporter(schema, run.task, hardest);
    const std::unique_ptr<PassResults> results = predictor.task().results(part);
    if (!run.results.empty()) begin_files(results.get(), run.results);
    PartReport report;
    report.part = name;
    report.notes = data.notes;
    predictor.begin();
    Batch batch;
    std::int64_t left_out = 0;
    while (loader.next(batch)) {
        left_out += std::ssize(batch.replaced);
        if (batch.rows() == 0) continue;
        const Tensor predicted = predictor.predict(batch, *feed);
        reporter.see(batch, predicted);
        if (results) results->see(batch, predicted);
        report.samples += batch.samples;
        const double share =
            static_cast<double>(report.samples + left_out) / static_cast<double>(part.size());
        if (progress && !progress(share)) break;
    }
    if (left_out > 0)
        report.notes.push_back(
            msg("Damaged samples of the {} part, which are left out: {}.", name, left_out));
    const MetricSums sums = predictor.take();
    report.figures =
        figures_of(predictor.task(), sums, sums.loss / sums.weight, results.get());
    if (results) {
        report.detections = results->detections();
        report.files = results->commit();
    }
    reporter.finish(report);
    for (HardSample& sample : report.hardest) sample.picture = picture_of(part, sample.index);
    return report;
}

}  // namespace engine
