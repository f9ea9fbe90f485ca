#include "tryit/report_models.h"

#include <cmath>
#include <numeric>

#include "text/format.h"
#include "tryit/tried_model.h"

namespace ui {

using engine::HardSample;

ClassModel::ClassModel(SharedReport report, const std::vector<std::string>& classes,
                       QObject* parent)
    : RowModel(parent), report_(std::move(report)) {
    const auto share = [this](double (engine::PartReport::*figure)(std::size_t) const) {
        return [this, figure](std::size_t i) { return measured((*report_.*figure)(i), percent); };
    };
    columns_ = {{tr("Class"), [classes](std::size_t i) { return className(classes, i); }},
                {tr("Precision"), share(&engine::PartReport::precision), true},
                {tr("Recall"), share(&engine::PartReport::recall), true},
                {tr("F1"), share(&engine::PartReport::f1), true},
                {tr("Samples"), [this](std::size_t i) { return count(report_->support(i)); }, true}};
    std::vector<std::size_t> all(report_->confusion.size());
    std::iota(all.begin(), all.end(), 0);
    setRows(std::move(all));
}

QVariant ClassModel::value(const std::size_t& number, int column, int role) const {
    if (role != Qt::UserRole) return {};
    // NaN compares with nothing: undefined figures come before all others.
    const auto defined = [](double figure) { return std::isnan(figure) ? -1.0 : figure; };
    switch (column) {
        case Precision:
            return defined(report_->precision(number));
        case Recall:
            return defined(report_->recall(number));
        case F1:
            return defined(report_->f1(number));
        case Samples:
            return static_cast<double>(report_->support(number));
        default:
            return static_cast<double>(number);
    }
}

HardestModel::HardestModel(SharedReport report, const std::vector<std::string>& classes,
                           QObject* parent)
    : RowModel(parent), report_(std::move(report)) {
    const auto number = [](double HardSample::*figure) {
        return [figure](const HardSample* sample) { return significant(sample->*figure, 4); };
    };
    const auto label = [classes](const HardSample* sample) {
        return className(classes, static_cast<std::size_t>(sample->label));
    };
    const auto predicted = [classes](const HardSample* sample) {
        return predictedName(classes, *sample);
    };
    using Text = std::function<QString(const HardSample*)>;
    columns_ = {
        {tr("Sample"), [](const HardSample* sample) { return count(sample->index + 1); }},
        {tr("Actual"), ofClasses() ? Text(label) : Text(number(&HardSample::wanted)), true},
        {tr("Predicted"), ofClasses() ? Text(predicted) : Text(number(&HardSample::value)), true},
        {tr("Probability"), [](const HardSample* sample) { return percent(sample->probability); },
         true},
        {tr("Loss"), [](const HardSample* sample) { return significant(sample->loss); }, true}};
    std::vector<const HardSample*> all;
    for (const HardSample& sample : report_->hardest) all.push_back(&sample);
    setRows(std::move(all));
}

QVariant HardestModel::value(const HardSample* const& sample, int column, int role) const {
    if (role != Qt::UserRole) return {};
    switch (column) {
        case Sample:
            return static_cast<qlonglong>(sample->index);
        case Actual:
            return ofClasses() ? static_cast<double>(sample->label) : sample->wanted;
        case Predicted:
            return ofClasses() ? static_cast<double>(sample->predicted) : sample->value;
        case Probability:
            return sample->probability;
        default:
            return sample->loss;
    }
}

}  // namespace ui
