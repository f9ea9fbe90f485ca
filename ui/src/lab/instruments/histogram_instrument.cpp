#include <QCoreApplication>
#include <QPainter>
#include <algorithm>
#include <array>
#include <map>

#include "engine/record/histogram_record.h"
#include "feed/background_task.h"
#include "lab/instruments/instrument.h"
#include "lab/lessons/run_style.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/axis_marks.h"

namespace ui {

using engine::ExponentHistogram;

namespace {

/// How many values of a tensor have which exponent, at the sample nearest to the step, one run
/// above the other. Read off the window's thread.
class HistogramInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::HistogramInstrument)
public:
    explicit HistogramInstrument(const InstrumentSetup& from);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// A step, and whether the run has ended.
    using Asked = std::pair<std::int64_t, bool>;
    struct Shown {
        std::int64_t step = 0;
        engine::ExponentHistogram values;
    };
    void paintRun(QPainter& painter, const QRectF& area, const std::string& run) const;
    void read(const std::string& run, const std::filesystem::path& folder, const Asked& asked);

    std::vector<std::string> runs_;
    std::map<std::string, Shown> shown_;
    std::map<std::string, Asked> asked_;  ///< what is being read, or was
};

}  // namespace

HistogramInstrument::HistogramInstrument(const InstrumentSetup& from) : Instrument(from) {
    runs_ = namedRuns();
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(context_.theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize HistogramInstrument::sizeHint() const {
    return {360, static_cast<int>(runs_.size()) * 9 * fontMetrics().height() +
                     2 * fontMetrics().height()};
}

QString HistogramInstrument::title() const {
    const std::map<std::string, QString> names{{"gradients", tr("Exponents of the gradients")},
                                               {"activations", tr("Exponents of the activations")},
                                               {"weights", tr("Exponents of the weights")},
                                               {"updates", tr("Exponents of the updates")}};
    const auto found = names.find(instrument_.quantity);
    return found == names.end() ? tr("Exponents") : found->second;
}

QString HistogramInstrument::note() const {
    QString text = QString::fromStdString(instrument_.layer);
    for (const auto& [run, shown] : shown_) {
        if (!text.isEmpty()) text += u" · "_s;
        return text + tr("step %1").arg(count(shown.step));
    }
    return text;
}

void HistogramInstrument::showStep(std::int64_t step) {
    if (step == 0) {
        shown_.clear();
        asked_.clear();
        update();
        return;
    }
    for (const auto& run : model_->runs()->snapshot().runs) {
        const bool wanted = std::ranges::find(runs_, run.name) != runs_.end();
        // Once more when the run has ended: only then is all that it kept in the file.
        const Asked asked{step, run.done.has_value()};
        if (wanted && !run.folder.empty() && asked_[run.name] != asked)
            read(run.name, run.folder, asked);
    }
}

void HistogramInstrument::read(const std::string& run, const std::filesystem::path& folder,
                               const Asked& asked) {
    asked_[run] = asked;
    inBackground(
        this,
        [folder, step = asked.first, layer = instrument_.layer, quantity = instrument_.quantity] {
            const auto kind = engine::value_of_name<engine::HistogramKind>(quantity).value_or(
                engine::HistogramKind::gradients);
            if (!engine::HistogramRecordReader::exists(folder)) throw Stopped{};
            auto reader = engine::HistogramRecordReader::open(folder);
            reader.refresh();
            const auto nearest = reader.nearest(step);
            if (!nearest) throw Stopped{};
            const auto sample = reader.read(*nearest);
            const auto* one = sample.find(layer, kind);
            return Shown{sample.step,
                         layer.empty() || one == nullptr ? sample.total(kind) : one->values};
        },
        [this, run, asked](const Outcome<Shown>& shown) {
            if (asked_[run] != asked) return;
            // Nothing of a record that is not there yet, or goes as the runs are discarded.
            if (shown.result) shown_[run] = *shown.result;
            update();
            emit noteChanged();
        });
}

void HistogramInstrument::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (shown_.empty()) {
        painter.setPen(context_.theme->tokens().dim);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, tr("Predict, then run."));
        return;
    }
    const double h = fontMetrics().height();
    const double each = (height() - 1.5 * h) / static_cast<double>(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const QRectF area(size::inside, static_cast<double>(i) * each, width() - 2.0 * size::inside,
                          each);
        paintRun(painter, area, runs_[i]);
    }
}

void HistogramInstrument::paintRun(QPainter& painter, const QRectF& area,
                                   const std::string& run) const {
    const Tokens& t = context_.theme->tokens();
    const int index = model_->runs()->indexOf(run);
    const auto tracks = model_->runs()->tracks();
    const auto found = shown_.find(run);
    if (index < 0 || index >= static_cast<int>(tracks.size()) || found == shown_.end()) return;
    const auto& track = *tracks[static_cast<std::size_t>(index)];
    const QColor color = runStyle(*context_.theme, tracks, static_cast<std::size_t>(index)).color;
    const double h = fontMetrics().height();
    painter.setPen(color);
    painter.drawText(QRectF(area.left(), area.top(), area.width(), h), Qt::AlignLeft, track.tag);
    const auto& values = found->second.values;
    std::int64_t most = 1;
    for (const std::int64_t bin : values.bins) most = std::max(most, bin);
    const QRectF bars = area.adjusted(0, 1.2 * h, 0, -1.4 * h);
    const double wide = bars.width() / ExponentHistogram::bin_count;
    const auto x = [&](int exponent) {
        return bars.left() + (exponent - ExponentHistogram::first_exponent) * wide;
    };
    // Shades the values that FP16 rounds to 0, and those for which it has fewer digits.
    painter.fillRect(QRectF(bars.left(), bars.top(), x(-24) - bars.left(), bars.height()),
                     blend(t.panel, t.bad, 0.10));
    painter.fillRect(QRectF(x(-24), bars.top(), x(-14) - x(-24), bars.height()),
                     blend(t.panel, t.caution, 0.10));
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    for (int bin = 0; bin < ExponentHistogram::bin_count; ++bin) {
        const auto count = static_cast<double>(values.bins[static_cast<std::size_t>(bin)]);
        const double tall = bars.height() * count / static_cast<double>(most);
        painter.drawRect(
            QRectF(bars.left() + bin * wide + 0.5, bars.bottom() - tall, wide - 1, tall));
    }
    painter.setPen(QPen(t.line, 1));
    painter.drawLine(bars.bottomLeft(), bars.bottomRight());
    paintMarksBelow(painter, t, bars, exponentMarks(std::array{-40, -24, -14, 0, 15}, x), width());
}

Instrument* makeHistogramInstrument(const InstrumentSetup& from) {
    return new HistogramInstrument(from);
}

}  // namespace ui
