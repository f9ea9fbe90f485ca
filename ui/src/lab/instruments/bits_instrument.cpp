#include <QCoreApplication>
#include <QPainter>
#include <cmath>

#include "engine/number/number_format.h"
#include "lab/instruments/instrument.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/bit_strip.h"

namespace ui {
namespace {

/// A number as a format stores it: its bits in groups, the exact value, the error and its two
/// neighbours.
class BitsInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::BitsInstrument)
public:
    explicit BitsInstrument(const InstrumentSetup& from);
    QString title() const override;
    void showStep(std::int64_t) override {}
    QSize sizeHint() const override { return {360, 8 * fontMetrics().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    engine::LessonBlockNumber number_;
};

/// Text of a stored value: all digits of a whole number.
QString figure(double value) {
    constexpr int digits = 16;
    const bool whole = value == std::floor(value) && std::abs(value) < 1e12;
    return whole ? plainText(value) : nearText(value, digits);
}

}  // namespace

BitsInstrument::BitsInstrument(const InstrumentSetup& from)
    : Instrument(from), number_(instrument_.number.value_or(engine::LessonBlockNumber{})) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(context_.theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QString BitsInstrument::title() const {
    const auto* format = engine::find_number_format(number_.format);
    const QString name =
        format != nullptr ? QString::fromUtf8(format->title.data(), qsizetype(format->title.size()))
                          : QString::fromStdString(number_.format);
    return tr("%1 in %2").arg(nearText(number_.number, 9), name);
}

void BitsInstrument::paintEvent(QPaintEvent*) {
    const auto* format = engine::find_number_format(number_.format);
    if (format == nullptr) return;
    const Tokens& t = context_.theme->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const std::uint32_t bits = engine::to_bits(*format, number_.number);
    const double value = engine::from_bits(*format, bits);
    const BitColors colors = bitColors(t, format->exponent_bits, format->fraction_bits);
    const double h = fontMetrics().height();
    const double room = width() - 2 * size::inside;
    const double cell = std::min(0.85 * h, (room - 2 * size::grid) / format->width());
    double x = size::inside;
    for (int bit = format->width() - 1; bit >= 0; --bit) {
        const bool sign = bit == format->width() - 1;
        const bool exponent = !sign && bit >= format->fraction_bits;
        const QColor color = sign ? colors.sign : exponent ? colors.exponent : colors.fraction;
        const bool set = (bits >> bit & 1u) != 0;
        const QRectF box(x, 2, cell - 1.5, 1.3 * h);
        painter.setPen(QPen(color, 1));
        painter.setBrush(set ? color : t.panel);
        painter.drawRoundedRect(box, 2, 2);
        painter.setPen(set ? t.panel : color);
        if (cell > 0.5 * h) painter.drawText(box, Qt::AlignCenter, set ? u"1"_s : u"0"_s);
        x += cell;
        if (sign || bit == format->fraction_bits) x += size::grid;
    }
    const auto neighbour = [&](const std::optional<std::uint32_t>& at) {
        return at ? figure(engine::from_bits(*format, *at)) : unmeasured();
    };
    const std::pair<QString, QString> rows[] = {
        {tr("stored as"), figure(value)},
        {tr("error"), plainText(value - number_.number)},
        {tr("next above"), neighbour(engine::next_above(*format, bits))},
        {tr("next below"), neighbour(engine::next_below(*format, bits))}};
    double y = 2 + 1.3 * h + size::gap;
    for (const auto& [name, text] : rows) {
        painter.setPen(t.dim);
        painter.drawText(QRectF(size::inside, y, 0.3 * room, h), Qt::AlignLeft, name);
        painter.setPen(t.text);
        const QRectF right(size::inside + 0.3 * room, y, 0.7 * room, h);
        painter.drawText(right, Qt::AlignLeft,
                         fontMetrics().elidedText(text, Qt::ElideRight, int(right.width())));
        y += 1.25 * h;
    }
}

Instrument* makeBitsInstrument(const InstrumentSetup& from) { return new BitsInstrument(from); }

}  // namespace ui
