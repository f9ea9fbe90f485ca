#include "lab/numbers/number_model.h"

#include <QStringList>
#include <cmath>

#include "engine/base/error.h"
#include "lab/numbers/number_words.h"
#include "text/language.h"

namespace ui {

using engine::NumberFormat;

NumberModel::NumberModel(QObject* parent) : QObject(parent), format_(&engine::fp16_format) {
    setText(u"0.1"_s);
}

engine::StoredNumber NumberModel::stored(const NumberFormat& format) const {
    if (made_ && made_->format == &format) return *made_;
    return store_number(format, number_);
}

void NumberModel::setText(const QString& text) {
    text_ = text;
    problem_.clear();
    try {
        number_ = engine::parse_number(text.toStdString(), *format_);
        made_.reset();
    } catch (const engine::Error& error) {
        problem_ = engineText(error.message());
    }
    emit changed();
}

void NumberModel::setNumber(double value) {
    number_ = {value, true};
    made_.reset();
    text_ = typedText(value);
    problem_.clear();
    emit changed();
}

void NumberModel::setFormat(const NumberFormat& format) {
    if (format_ == &format) return;
    format_ = &format;
    emit changed();
}

void NumberModel::take(const NumberFormat& format, std::uint32_t bits) {
    format_ = &format;
    made_ = engine::stored_bits(format, bits);
    number_ = {made_->value, true};
    text_ = typedText(number_.value);
    problem_.clear();
    emit changed();
}

void NumberModel::flip(const NumberFormat& format, int bit) {
    if (bit < 0 || bit >= format.width()) return;
    take(format, stored(format).bits ^ 1u << bit);
}

void NumberModel::step(int direction) {
    const auto now = stored(*format_);
    const auto next =
        direction > 0 ? next_above(*format_, now.bits) : next_below(*format_, now.bits);
    if (next) take(*format_, *next);
}

QString NumberModel::headline() const {
    if (!problem_.isEmpty()) return problem_;
    if (std::isnan(number_.value)) return tr("NaN: not a number.");
    QStringList holding;
    for (const auto* format : engine::common_number_formats()) {
        const auto each = stored(*format);
        const bool exact = number_.exact && each.value == number_.value;
        if (exact) holding << formatTitle(*format);
    }
    if (holding.isEmpty()) return tr("No format holds %1 exactly.").arg(text_);
    if (holding.size() == static_cast<qsizetype>(engine::common_number_formats().size()))
        return tr("All six formats hold %1 exactly.").arg(text_);
    if (holding.size() == 1) return tr("Only %1 holds %2 exactly.").arg(holding.front(), text_);
    const QString last = holding.takeLast();
    return tr("%1 and %2 hold %3 exactly.").arg(holding.join(tr(", ")), last, text_);
}

QString NumberModel::explanation() const {
    if (!problem_.isEmpty()) return {};
    if (std::isnan(number_.value)) return tr("Any result computed from it is NaN too.");
    const auto selected = stored(*format_);
    using engine::NumberClass;
    const QString title = formatTitle(*format_);
    if (selected.number_class == NumberClass::nan)
        return tr("Beyond %1, %2 has only NaN.").arg(nearText(format_->largest, 6), title);
    if (selected.number_class == NumberClass::infinite && std::isfinite(number_.value))
        return tr("From %1 on, %2 rounds to infinity.").arg(nearText(format_->overflow, 6), title);
    if (selected.number_class == NumberClass::zero && number_.value != 0)
        return tr("It is at most half of %1's smallest number, so it rounds to 0.").arg(title);
    if (selected.number_class == NumberClass::subnormal)
        return tr("Subnormal in %1: fewer fraction bits remain.").arg(title);
    if (!number_.exact)
        return tr("It has infinitely many binary digits, or too many; each format rounds it.");
    return {};
}

QString NumberModel::lessonLine() const {
    QString text = problem_.isEmpty() ? text_ : typedText(number_.value);
    return u"bits number: %1 in %2\n"_s.arg(text.remove(u' '), formatName(*format_));
}

}  // namespace ui
