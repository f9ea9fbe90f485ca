#include "train/predict/part_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/clicks/criteo_reader.h"
#include "data/loader/batch_loader.h"
#include "engine/base/error.h"
#include "train/run/run_data.h"
#include "train/run/run_evaluation.h"

namespace engine {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Keeps the samples with the largest loss.
class Hardest {
public:
    explicit Hardest(std::size_t most) : most_(most) {}

    void see(HardSample sample) {
        if (most_ == 0 || !(kept_.size() < most_ || sample.loss > kept_.front().loss)) return;
        kept_.push_back(std::move(sample));
        std::ranges::push_heap(kept_, smaller_first);
        if (kept_.size() <= most_) return;
        std::ranges::pop_heap(kept_, smaller_first);
        kept_.pop_back();
    }
    std::vector<HardSample> take() {
        std::ranges::sort(kept_, [](const HardSample& a, const HardSample& b) {
            return a.loss != b.loss ? a.loss > b.loss : a.index < b.index;
        });
        return std::move(kept_);
    }

private:
    static bool smaller_first(const HardSample& a, const HardSample& b) {
        return rank(a.loss) > rank(b.loss);
    }
    /// NaN is the largest.
    static double rank(double loss) {
        return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss;
    }
    std::size_t most_;
    std::vector<HardSample> kept_;
};

HardSample of_class(std::span<const double> scores, std::int64_t label) {
    const auto probabilities = probabilities_of({scores.begin(), scores.end()});
    HardSample out;
    out.label = label;
    if (std::ranges::any_of(scores, [](double score) { return std::isnan(score); })) {
        out.probability = out.loss = undefined;
        return out;
    }
    out.predicted = std::ranges::max_element(probabilities) - probabilities.begin();
    out.probability = probabilities[static_cast<std::size_t>(out.predicted)];
    const double highest = std::ranges::max(scores);
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - highest);
    out.loss = highest + std::log(sum) - scores[static_cast<std::size_t>(label)];
    return out;
}

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
        } else if (task == "regression" && value->shape.numel() == 1) {
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
                of_class(std::span(scores).subspan(row * classes_, classes_), labels[row]);
            sample.index = places_[row];
            const auto label = static_cast<std::size_t>(sample.label);
            ++(sample.predicted < 0 ? unpredicted_[label]
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
    Hardest hardest_;
};

/// The sample's image as it is in the data set; empty if it has none.
Picture picture_of(const DataPart& part, std::int64_t index) {
    const Schema& schema = part.data->schema();
    const FieldSpec* image = schema.find(FieldKind::image);
    if (image == nullptr) return {};
    std::vector<std::vector<std::byte>> memory;
    std::vector<SampleFields::Place> places;
    for (const FieldSpec& field : schema.fields) memory.emplace_back(field.sample_bytes());
    for (auto& bytes : memory) places.push_back({bytes.data(), bytes.size(), 0, 0});
    const SampleFields fields(places);
    part.data->read(part.sample(index), fields);
    const auto pixels = fields.f32(schema.index(image->name));
    const auto channels = static_cast<std::size_t>(image->shape[0]);
    Picture out{static_cast<int>(image->shape[2]), static_cast<int>(image->shape[1]), {}};
    for (std::size_t i = 0; i < pixels.size() / channels; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            const float value = pixels[i * channels + std::min(c, channels - 1)];
            out.rgb.push_back(static_cast<std::uint8_t>(
                std::clamp(std::lround(static_cast<double>(value) * 255), 0L, 255L)));
        }
    }
    return out;
}

double number_in(const std::string& cell, const std::string& column) {
    double value = 0;
    const char* end = cell.data() + cell.size();
    const auto [stopped, error] = std::from_chars(cell.data(), end, value);
    if (error == std::errc() && stopped == end && std::isfinite(value)) return value;
    throw Error(ErrorCode::value, msg("{}: {} is not a number", column, cell));
}

/// -1 if it is no whole number.
std::int64_t whole_in(const std::string& cell) {
    std::int64_t value = -1;
    const char* end = cell.data() + cell.size();
    const auto [stopped, error] = std::from_chars(cell.data(), end, value);
    return error == std::errc() && stopped == end ? value : -1;
}

const DataPart& part_named(const DataParts& data, const std::string& name) {
    if (name != "test" && name != "validation")
        throw Error(ErrorCode::settings, msg("{}: use test or validation", name));
    const DataPart& part = name == "test" ? data.test : data.validation;
    if (part.size() == 0) throw Error(ErrorCode::data, msg("the data set has no {} part", name));
    return part;
}

}  // namespace

bool predicts_classes(const std::string& task) {
    return task == "classification" || task == "click-prediction";
}

std::vector<double> probabilities_of(const std::vector<double>& scores) {
    const double highest = std::ranges::max(scores);
    std::vector<double> out;
    double sum = 0;
    for (const double score : scores) sum += out.emplace_back(std::exp(score - highest));
    for (double& value : out) value /= sum;
    return out;
}

void in_original_units(const FieldSpec& field, std::vector<double>& values) {
    const Normalization& scale = field.normalization;
    if (scale.empty()) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t at = std::min(i, scale.mean.size() - 1);
        values[i] = values[i] * static_cast<double>(scale.deviation[at]) +
                    static_cast<double>(scale.mean[at]);
    }
}

void fill_features(std::vector<float>& features, const InputGuide& guide, const InputForm& form,
                   const std::map<std::string, std::string>& row) {
    for (const auto& [name, cell] : row) {
        const bool known = std::ranges::any_of(
            guide.columns,
            [&wanted = name](const GuideColumn& column) { return column.name == wanted; });
        if (!known) throw Error(ErrorCode::value, msg("{}: the model has no such column", name));
    }
    for (std::size_t i = 0; i < guide.columns.size(); ++i) {
        const GuideColumn& column = guide.columns[i];
        if (column.id != GuideColumn::Id::none) continue;
        if (column.offset + column.width() > features.size())
            throw Error(ErrorCode::data, msg("{}: the run's inputs.json is damaged", column.name));
        const auto cell = row.find(column.name);
        const bool given = cell != row.end() && !cell->second.empty();
        if (column.categories.empty()) {
            const double value =
                given ? number_in(cell->second, column.name) : form.columns[i].usual;
            features[column.offset] =
                static_cast<float>(column.counted ? std::log1p(std::max(value, 0.0)) : value);
            continue;
        }
        if (!given) continue;  // none of the categories
        const auto word = std::ranges::find(column.categories, cell->second);
        if (word == column.categories.end()) {
            throw Error(ErrorCode::value,
                        msg("{}: {} was not in the training rows", column.name, cell->second));
        }
        features[column.offset + static_cast<std::size_t>(word - column.categories.begin())] = 1;
    }
}

void fill_ids(std::vector<std::int64_t>& ids, std::int64_t rows, const InputGuide& guide,
              const std::map<std::string, std::string>& row) {
    for (const GuideColumn& column : guide.columns) {
        if (column.id == GuideColumn::Id::none) continue;
        if (column.offset >= ids.size())
            throw Error(ErrorCode::data, msg("{}: the run's inputs.json is damaged", column.name));
        const auto cell = row.find(column.name);
        if (cell == row.end() || cell->second.empty()) continue;  // 0, as in the data
        const std::int64_t id = column.id == GuideColumn::Id::criteo ? criteo_id(cell->second, rows)
                                                                     : whole_in(cell->second);
        if (id < 0 || id >= rows) {
            throw Error(ErrorCode::value, msg("{}: {} is not an id of a table of {} rows",
                                              column.name, cell->second, rows));
        }
        ids[column.offset] = id;
    }
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
    PartReport report;
    report.part = name;
    report.notes = data.notes;
    predictor.begin();
    Batch batch;
    std::int64_t left_out = 0;
    while (loader.next(batch)) {
        left_out += std::ssize(batch.replaced);
        if (batch.rows() == 0) continue;
        reporter.see(batch, predictor.predict(batch, *feed));
        report.samples += batch.samples;
        const double share =
            static_cast<double>(report.samples + left_out) / static_cast<double>(part.size());
        if (progress && !progress(share)) break;
    }
    if (left_out > 0)
        report.notes.push_back(
            msg("Damaged samples of the {} part, which are left out: {}.", name, left_out));
    const MetricSums sums = predictor.take();
    report.figures = figures_of(predictor.task(), sums, sums.loss / sums.weight);
    reporter.finish(report);
    for (HardSample& sample : report.hardest) sample.picture = picture_of(part, sample.index);
    return report;
}

}  // namespace engine
