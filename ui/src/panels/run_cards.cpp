#include "panels/run_cards.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>
#include <cmath>

#include "feed/run_track.h"
#include "models/settings_model.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/run_title.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "ui/event_feed.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t abreast = 4;
constexpr std::size_t allColumns = 4;
constexpr int leastWidth = 320;

struct Figures {
    QString loss;
    QString accuracy;
    QString speed;
    QString peak;
};

Figures figuresOf(const RunTrack& track) {
    Figures out{unmeasured(), unmeasured(), unmeasured(), unmeasured()};
    const std::int64_t rows = track.rows();
    if (rows > 0) {
        // One batch says little: the mean of the last twenty is what the curve in front shows.
        const Bucket tail = track.series(Figure::loss).total(rows - 20, rows);
        const double now = static_cast<double>(track.latest().loss);
        out.loss = significant(std::isfinite(now) ? static_cast<double>(tail.mean) : now);
        out.speed = measured(track.speed().samples_per_s, significant);
        out.peak = bytes(track.latest().peak_bytes);
    }
    if (!track.epochs().empty())
        out.accuracy = measured(track.epochs().back().test_accuracy, percent);
    return out;
}

}  // namespace

RunCards::RunCards(const Context& context, QWidget* parent)
    : QStackedWidget(parent), context_(context) {
    row_ = new QWidget(this);
    cards_ = new QHBoxLayout(row_);
    cards_->setContentsMargins(0, 0, 0, 0);
    cards_->setSpacing(size::gap);
    table_ = new QTableWidget(0, 6, this);
    table_->verticalHeader()->hide();
    table_->setShowGrid(false);
    table_->setEditTriggers(QTableWidget::NoEditTriggers);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table_->setHorizontalHeaderLabels({tr("run"), tr("state"), tr("loss"), tr("test accuracy"),
                                       tr("samples/s"), tr("peak memory")});
    table_->setAccessibleName(tr("Runs on screen"));
    addWidget(row_);
    addWidget(table_);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(context_.feed, &EventFeed::tracksChanged, this, &RunCards::rebuild);
    connect(context_.feed, &EventFeed::figuresDue, this, &RunCards::refresh);
    connect(context_.theme, &Theme::changed, this, &RunCards::rebuild);
    connect(context_.settings, &SettingsModel::changed, this, [this] {
        if (context_.feed->tracks().empty()) rebuild();
    });
    rebuild();
}

QWidget* RunCards::makeCard(const QString& title, const QColor& color, Card& card) {
    auto* frame = new QFrame(row_);
    frame->setObjectName(u"card"_s);
    card.frame = frame;
    auto* line = new QHBoxLayout(frame);
    line->setContentsMargins(size::inside, size::gap, size::inside, size::gap);
    line->setSpacing(size::inside);
    auto* names = new QVBoxLayout;
    names->setSpacing(0);
    auto* name = new QHBoxLayout;
    name->setSpacing(size::grid);
    auto* dot = new QLabel(frame);
    dot->setPixmap(iconPixmap(u"dot"_s, color, size::icon, 2.0));
    auto* text = makeLabel(title);
    text->setFont(Theme::bold());
    name->addWidget(dot);
    name->addWidget(text);
    name->addStretch();
    card.note = makeLabel({}, "dim");
    card.note->setFont(Theme::caption());
    card.note->setMinimumWidth(1);
    names->addLayout(name);
    names->addWidget(card.note);
    line->addLayout(names, 1);
    const auto figure = [&](const QString& caption) {
        auto* holder = new QWidget(frame);
        auto* column = new QVBoxLayout(holder);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        auto* label = makeLabel(caption, "dim");
        label->setFont(Theme::caption());
        auto* value = makeLabel({});
        value->setFont(Theme::figures());
        value->setAccessibleName(title + u' ' + caption);
        column->addWidget(label);
        column->addWidget(value);
        line->addWidget(holder);
        card.columns.push_back(holder);
        return value;
    };
    card.loss = figure(tr("loss"));
    card.accuracy = figure(tr("test acc."));
    card.speed = figure(tr("samples/s"));
    card.peak = figure(tr("peak"));
    return frame;
}

void RunCards::rebuild() {
    while (auto* item = cards_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    shown_.clear();
    const auto tracks = context_.feed->tracks();
    if (tracks.empty()) {
        for (const QString& preset : context_.settings->comparison()) {
            if (shown_.size() == abreast) break;
            const std::string name = preset.toStdString();
            shown_.emplace_back();
            cards_->addWidget(
                makeCard(precisionTitle(name), context_.theme->precision(name), shown_.back()), 1);
        }
    }
    for (const auto& track : tracks) {
        shown_.emplace_back();
        shown_.back().track = track;
        if (tracks.size() > abreast) continue;
        cards_->addWidget(makeCard(trackTitle(*track),
                                   context_.theme->precision(track->precision()), shown_.back()),
                          1);
    }
    setCurrentWidget(tracks.size() > abreast ? static_cast<QWidget*>(table_) : row_);
    const int line =
        QFontMetrics(Theme::caption()).height() + QFontMetrics(Theme::figures()).height();
    setFixedHeight(tracks.size() > abreast ? 160 : line + 2 * size::gap + 2);
    fitting_ = allColumns;
    refresh();
}

QSize RunCards::minimumSizeHint() const {
    return {leastWidth, QStackedWidget::minimumSizeHint().height()};
}

void RunCards::resizeEvent(QResizeEvent* event) {
    QStackedWidget::resizeEvent(event);
    fit(allColumns);
}

void RunCards::fit(std::size_t columns) {
    for (fitting_ = columns;; --fitting_) {
        for (const Card& card : shown_) {
            for (std::size_t i = 0; i < card.columns.size(); ++i) {
                card.columns[i]->setVisible(i < fitting_);
            }
        }
        if (fitting_ <= 1 || neededWidth() <= width()) return;
    }
}

int RunCards::neededWidth() const {
    // Of the layouts themselves: cards_ hears of a hidden column only with the next event.
    int needed = 0;
    for (const Card& card : shown_) {
        if (card.frame == nullptr) continue;
        needed += card.frame->layout()->totalMinimumSize().width() + size::gap;
    }
    return needed - size::gap;
}

void RunCards::refresh() {
    if (currentWidget() == table_) {
        fillTable();
        return;
    }
    bool first = true;
    for (const Card& card : shown_) {
        const Figures figures = card.track ? figuresOf(*card.track) : figuresOf(RunTrack({}, {}));
        card.loss->setText(figures.loss);
        card.accuracy->setText(figures.accuracy);
        card.speed->setText(figures.speed);
        card.peak->setText(figures.peak);
        QString note = first && shown_.size() > 1 ? tr("baseline") : QString();
        if (card.track && card.track->failed()) {
            note = tr("failed");
        } else if (card.track && card.track->hasScaler() && card.track->rows() > 0) {
            const auto row = card.track->latest();
            const double scale = static_cast<double>(row.loss_scale);
            note = tr("scale %1").arg(powerOfTwo(scale));
            const double room = std::log2(static_cast<double>(row.scale_ceiling) / scale);
            if (std::isfinite(room)) {
                const QString more =
                    note + tr(" · %1 bit free").arg(significant(std::max(0.0, room), 2));
                const QFontMetrics metrics(card.note->font());
                if (metrics.horizontalAdvance(more) <= card.note->width()) note = more;
            }
        }
        card.note->setText(note);
        card.note->setToolTip(note);
        first = false;
    }
    fit(fitting_);  // not more: figures that come and go with every digit would flicker
}

void RunCards::fillTable() {
    table_->setRowCount(static_cast<int>(shown_.size()));
    for (int i = 0; i < table_->rowCount(); ++i) {
        const RunTrack& track = *shown_[static_cast<std::size_t>(i)].track;
        const Figures figures = figuresOf(track);
        const QString cells[] = {trackTitle(track), stateText(track.state()),
                                 figures.loss,      figures.accuracy,
                                 figures.speed,     figures.peak};
        for (int c = 0; c < 6; ++c) {
            if (table_->item(i, c) == nullptr) table_->setItem(i, c, new QTableWidgetItem);
            table_->item(i, c)->setText(cells[c]);
        }
        table_->item(i, 0)->setIcon(
            iconPixmap(u"dot"_s, context_.theme->precision(track.precision()), size::icon, 2.0));
    }
}

}  // namespace ui
