#include "lab/numbers/calculator_model.h"

#include "engine/base/error.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {

using engine::NumberFormat;

namespace {

constexpr int curvePoints = 400;

}  // namespace

CalculatorModel::CalculatorModel(QObject* parent) : QObject(parent) { compute(); }

void CalculatorModel::setOperation(Operation operation) {
    if (operation == operation_) return;
    const auto& kept = operation == Operation::sum ? sum_ : pair_;
    auto& left = operation_ == Operation::sum ? sum_ : pair_;
    left[0] = first_;
    left[1] = second_;
    operation_ = operation;
    first_ = kept[0];
    second_ = kept[1];
    compute();
}

void CalculatorModel::setFirst(const QString& text) {
    first_ = text;
    compute();
}

void CalculatorModel::setSecond(const QString& text) {
    second_ = text;
    compute();
}

void CalculatorModel::setAccumulator(const NumberFormat& format) {
    accumulator_ = &format;
    compute();
}

void CalculatorModel::compute() {
    problem_.clear();
    try {
        const auto read = [](const QString& text) {
            return engine::parse_number(text.toStdString(), engine::fp16_format);
        };
        const auto first = read(first_);
        if (operation_ != Operation::sum) {
            computePair(first, read(second_));
        } else {
            bool whole = false;
            const qlonglong terms = QString(second_).remove(u',').trimmed().toLongLong(&whole);
            if (!whole || terms < 0 || terms > maxTerms)
                problem_ = tr("n is a whole number from 0 to %1.").arg(count(maxTerms));
            else
                computeSum(first, terms);
        }
    } catch (const engine::Error& error) {
        problem_ = engineText(error.message());
    }
    emit changed();
}

void CalculatorModel::computePair(const engine::Number& a, const engine::Number& b) {
    rows_.clear();
    const bool adds = operation_ == Operation::add;
    for (const auto* format : engine::common_number_formats())
        rows_.push_back({.format = format,
                         .first = rounded(*format, a.value),
                         .second = rounded(*format, b.value),
                         .result = adds ? engine::add(*format, a.value, b.value)
                                        : engine::multiply(*format, a.value, b.value)});
    exact_ = adds ? a.value + b.value : a.value * b.value;
}

void CalculatorModel::computeSum(const engine::Number& term, std::int64_t terms) {
    rows_.clear();
    terms_ = terms;
    for (const auto* format : engine::common_number_formats()) {
        engine::SumSettings settings{
            .term = term.value, .terms = terms, .format = format, .points = curvePoints};
        Row row{.format = format, .own = sum(settings)};
        row.first = row.own.term;
        settings.accumulator = accumulator_;
        row.chosen = sum(settings);
        rows_.push_back(std::move(row));
    }
    exact_ = term.value * static_cast<double>(terms);
}

QString CalculatorModel::lessonLine(const NumberFormat& format) const {
    if (operation_ != Operation::sum || !problem_.isEmpty()) return {};
    QString term = first_;
    return u"sum total: %1 x %2 in %3 accumulate %4\n"_s.arg(
        term.remove(u' '), QString::number(terms_), formatName(format),
        formatName(fixed_accumulator(format) != nullptr ? *fixed_accumulator(format) : format));
}

}  // namespace ui
