#include "panels/verdict/run_card.h"

#include <QGridLayout>
#include <algorithm>
#include <cmath>

#include "engine/runs/end_notice.h"
#include "engine/settings/run_config.h"
#include "feed/run_track.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/metric_text.h"
#include "text/precision_title.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int nameWidth = 120;

/// The widest figures that are usual; rarer ones may push the name.
const std::array<QString, 4> widestUsual = {u"0.00000"_s, u"100.0 %"_s, u"888,000"_s, u"888 MB"_s};

struct CardWords {
    Q_DECLARE_TR_FUNCTIONS(CardWords)
public:
    static std::array<QString, 4> captions(const std::vector<engine::Metric>& metrics,
                                           const std::string& unit) {
        return {tr("loss, last 20"), testCaption(metrics), speedUnit(unit), tr("peak")};
    }
    static QString note(const RunTrack& track);
};

bool isDiverged(const RunTrack& track) {
    return track.done() && engine::end_state(*track.done()) == "diverged";
}

QString CardWords::note(const RunTrack& track) {
    if (isDiverged(track)) return divergedText(track.done()->diverged_at);
    if (track.failed()) return tr("failed");
    if (const auto broken = engine::broken_on_purpose_text(track.config()); !broken.empty())
        return tr("broken on purpose: %1").arg(QString::fromStdString(broken));
    if (track.rows() == 0) return {};
    if (!track.hasScaler()) {
        const bool emulated =
            !track.origin() && engine::resolve(track.config().precision).has_recipe();
        return emulated ? tr("emulated: not a card's speed") : QString();
    }
    const engine::KeyFigures now = track.figures();
    const QString note = tr("scale now %1").arg(powerOfTwo(now.scale_now));
    if (std::isnan(now.headroom_bits)) return note;
    return note + u" · "_s +
           tr("headroom %1 bits").arg(significant(std::max(0.0, now.headroom_bits), 2));
}

std::array<QString, 4> usualCaptions() {
    return CardWords::captions(engine::classification_metrics(), "images");
}

int figureWidth(std::size_t i) {
    return std::max(QFontMetrics(Theme::figures()).horizontalAdvance(widestUsual[i]),
                    QFontMetrics(Theme::caption()).horizontalAdvance(usualCaptions()[i]));
}

int figuresWidth() {
    int width = 3 * size::gap;
    for (std::size_t i = 0; i < widestUsual.size(); ++i) width += figureWidth(i);
    return width;
}

}  // namespace

std::array<QString, 4> figureCaptions(const std::vector<engine::Metric>& metrics,
                                      const std::string& unit) {
    return CardWords::captions(metrics, unit);
}

CardFigures figuresOf(const RunTrack* track) {
    CardFigures out{unmeasured(), unmeasured(), unmeasured(), unmeasured()};
    if (track == nullptr) return out;
    const engine::KeyFigures now = track->figures();
    if (now.steps > 0) {
        out.loss = significant(now.loss_last_20);
        out.speed = measured(now.samples_per_s, significant);
        // A program that does not tell how much memory it takes writes 0.
        out.peak = track->origin() && now.peak_bytes == 0 ? unmeasured() : bytes(now.peak_bytes);
    }
    const engine::Metric metric = primaryMetric(track->metrics());
    if (now.evaluated_at > 0) out.metric = metricValue(metric, valueOf(now.test, metric));
    return out;
}

QString stateOf(const RunTrack& track) {
    return isDiverged(track) ? divergedText(track.done()->diverged_at) : stateText(track.state());
}

RunCard::RunCard(const QString& title, const QColor& color, QWidget* parent)
    : QFrame(parent), title_(title) {
    setObjectName(u"card"_s);
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(size::inside, size::gap, size::inside, size::gap);
    grid_->setHorizontalSpacing(size::inside);
    grid_->setVerticalSpacing(size::grid);
    names_ = new QWidget(this);
    auto* lines = new QGridLayout(names_);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setHorizontalSpacing(size::grid);
    lines->setVerticalSpacing(0);
    lines->setColumnStretch(1, 1);
    auto* dot = new QLabel(names_);
    dot->setPixmap(iconPixmap(u"dot"_s, color, size::icon, 2.0));
    auto* name = new ElidedLabel(names_);
    name->setFont(Theme::bold());
    name->setText(title);
    task_ = withName(new ElidedLabel(names_), u"cardTask"_s);
    task_->setProperty("role", u"dim"_s);
    task_->setFont(Theme::caption());
    note_ = new ElidedLabel(names_);
    note_->setProperty("role", u"dim"_s);
    note_->setFont(Theme::caption());
    lines->addWidget(dot, 0, 0);
    lines->addWidget(name, 0, 1);
    lines->addWidget(task_, 1, 0, 1, 2);
    lines->addWidget(note_, 2, 0, 1, 2);
    figures_ = new QWidget(this);
    makeRow(figures_, {}, size::gap);
    const auto captions = usualCaptions();
    for (std::size_t i = 0; i < values_.size(); ++i) {
        addFigure(i, captions[i], widestUsual[i]);
        values_[i]->parentWidget()->setMinimumWidth(figureWidth(i));
    }
}

void RunCard::addFigure(std::size_t i, const QString& caption, const QString& usual) {
    auto* holder = new QWidget(figures_);
    auto* column = makeColumn(holder, {}, 0);
    auto* label = makeSmall(caption, "dim");
    auto* value = makeLabel(usual);
    value->setFont(Theme::figures());
    value->setAccessibleName(title_ + u' ' + caption);
    addWidgets(column, {label, value});
    figures_->layout()->addWidget(holder);
    captions_[i] = label;
    values_[i] = value;
}

int RunCard::wideWidth() {
    return nameWidth + figuresWidth() + 3 * size::inside + 2 * size::border;
}
int RunCard::tallWidth() { return figuresWidth() + 2 * size::inside + 2 * size::border; }

int RunCard::heightFor(bool wide) {
    const int names = std::max(QFontMetrics(Theme::bold()).height(), size::icon) +
                      2 * QFontMetrics(Theme::caption()).height();
    const int figures =
        QFontMetrics(Theme::caption()).height() + QFontMetrics(Theme::figures()).height();
    const int inside = wide ? std::max(names, figures) : names + size::grid + figures;
    return inside + 2 * size::gap + 2 * size::border;
}

void RunCard::setWide(bool wide) {
    grid_->removeWidget(names_);
    grid_->removeWidget(figures_);
    grid_->addWidget(names_, 0, 0);
    grid_->addWidget(figures_, wide ? 0 : 1, wide ? 1 : 0);
    grid_->setColumnStretch(0, 1);
}

void RunCard::setMeasures(const std::vector<engine::Metric>& metrics, const std::string& unit) {
    const auto captions = CardWords::captions(metrics, unit);
    for (std::size_t i = 0; i < captions.size(); ++i) {
        captions_[i]->setText(captions[i]);
        values_[i]->setAccessibleName(title_ + u' ' + captions[i]);
    }
    captions_[2]->setToolTip(tr("Mean speed over all steps. A verdict compares typical speeds."));
}

void RunCard::show(const RunTrack* track, bool baseline) {
    const CardFigures figures = figuresOf(track);
    values_[0]->setText(figures.loss);
    values_[1]->setText(figures.metric);
    values_[2]->setText(figures.speed);
    values_[3]->setText(figures.peak);
    QString note = track != nullptr ? CardWords::note(*track) : QString();
    if (note.isEmpty() && baseline) note = tr("baseline");
    note_->setText(note);
}

void RunCard::setTask(const QString& task) { task_->setText(task); }

}  // namespace ui
