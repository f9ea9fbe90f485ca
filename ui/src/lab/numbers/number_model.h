#pragma once

#include <QObject>
#include <optional>

#include "engine/number/number_text.h"

namespace ui {

/// The number that the Numbers view shows, and the format that is selected. GUI thread.
class NumberModel final : public QObject {
    Q_OBJECT
public:
    explicit NumberModel(QObject* parent = nullptr);

    const engine::Number& number() const { return number_; }
    /// As it was typed, or as it would be.
    const QString& text() const { return text_; }
    /// Why the typed text is no number; empty if it is one. The number then stays as it was.
    const QString& problem() const { return problem_; }
    const engine::NumberFormat& format() const { return *format_; }
    /// The number as a format stores it.
    engine::StoredNumber stored(const engine::NumberFormat& format) const;

    /// "No format holds 0.1.", "All six formats hold 0.5.", "FP32 and BF16 hold 2^-100."
    QString headline() const;
    /// Explanation of the number; may be empty.
    QString explanation() const;
    /// Line of a lesson's instrument block that shows this number in the selected format.
    QString lessonLine() const;

    void setText(const QString& text);
    void setNumber(double value);
    void setFormat(const engine::NumberFormat& format);
    /// Flips one bit of the stored number, 0 for the lowest. The resulting value becomes the
    /// number, and the format is selected.
    void flip(const engine::NumberFormat& format, int bit);
    /// To the next larger (direction > 0) or smaller value of the selected format.
    void step(int direction);

signals:
    void changed();

private:
    void take(const engine::NumberFormat& format, std::uint32_t bits);

    engine::Number number_;
    QString text_;
    QString problem_;
    const engine::NumberFormat* format_;
    /// Bits that were set one by one: of a NaN the value does not tell which they were.
    std::optional<engine::StoredNumber> made_;
};

}  // namespace ui
