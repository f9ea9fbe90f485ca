#pragma once

#include <QObject>
#include <QString>
#include <vector>

#include "engine/number/number_arithmetic.h"
#include "engine/number/number_text.h"

namespace ui {

/// a + b, a × b, or a sum of n equal terms, in every format. GUI thread.
class CalculatorModel final : public QObject {
    Q_OBJECT
public:
    enum class Operation { add, multiply, sum };
    /// Largest sum that the GUI thread computes within a frame or two.
    static constexpr std::int64_t maxTerms = 1'000'000;

    struct Row {
        const engine::NumberFormat* format = nullptr;
        double first = 0;            ///< a or the term, as stored
        double second = 0;           ///< b as stored
        double result = 0;           ///< of a + b or a × b
        engine::SumResult own{};     ///< in an accumulator of the format itself, if it has one
        engine::SumResult chosen{};  ///< in accumulator()
    };

    explicit CalculatorModel(QObject* parent = nullptr);

    Operation operation() const { return operation_; }
    /// a, or the term of a sum.
    const QString& first() const { return first_; }
    /// b, or the number of terms.
    const QString& second() const { return second_; }
    const engine::NumberFormat& accumulator() const { return *accumulator_; }
    /// Why there is no result; empty if there is one. The rows then stay as they were.
    const QString& problem() const { return problem_; }
    const std::vector<Row>& rows() const { return rows_; }
    std::int64_t terms() const { return terms_; }
    /// The result without rounding, to a double's precision.
    double exact() const { return exact_; }
    /// Line of a lesson's instrument block that shows the sum in this format; empty unless the
    /// operation is a sum.
    QString lessonLine(const engine::NumberFormat& format) const;

    /// Takes the last operands of this operation.
    void setOperation(Operation operation);
    void setFirst(const QString& text);
    void setSecond(const QString& text);
    void setAccumulator(const engine::NumberFormat& format);

signals:
    void changed();

private:
    void compute();
    void computeSum(const engine::Number& term, std::int64_t terms);
    void computePair(const engine::Number& a, const engine::Number& b);

    Operation operation_ = Operation::sum;
    QString pair_[2] = {QStringLiteral("65504"), QStringLiteral("16")};
    QString sum_[2] = {QStringLiteral("0.001"), QStringLiteral("10000")};
    QString first_ = sum_[0], second_ = sum_[1];
    const engine::NumberFormat* accumulator_ = &engine::fp32_format;
    QString problem_;
    std::vector<Row> rows_;
    std::int64_t terms_ = 0;
    double exact_ = 0;
};

}  // namespace ui
