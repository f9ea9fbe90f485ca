#include "panels/verdict/run_cards.h"

#include <QGridLayout>
#include <QHeaderView>
#include <QTableWidget>
#include <algorithm>

#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "models/settings_model.h"
#include "panels/verdict/run_card.h"
#include "text/metric_text.h"
#include "text/precision_title.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace ui {
namespace {

constexpr std::size_t abreast = 4;
constexpr std::size_t abreastInLow = 2;  // a second row of cards would push plots off the screen
constexpr int maxRows = 8;
constexpr int minWidth = 320;
constexpr int stateColumn = 1;

}  // namespace

RunCards::RunCards(const Context& context, QWidget* parent)
    : QStackedWidget(parent), context_(context) {
    page_ = new QWidget(this);
    cards_ = new QGridLayout(page_);
    cards_->setContentsMargins(0, 0, 0, 0);
    cards_->setSpacing(size::gap);
    table_ = new QTableWidget(0, 6, this);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + size::gap);
    table_->setShowGrid(false);
    table_->setEditTriggers(QTableWidget::NoEditTriggers);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    // "diverged at step 11" is not cut.
    table_->horizontalHeader()->setSectionResizeMode(stateColumn, QHeaderView::ResizeToContents);
    table_->setHorizontalHeaderLabels(
        {tr("run"), tr("state"), tr("loss, last 20"), QString(), QString(), tr("peak memory")});
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->setObjectName(u"runs"_s);
    table_->setAccessibleName(tr("Runs on screen"));
    addWidget(page_);
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

void RunCards::addCard(const std::string& preset, const QString& title,
                       const std::shared_ptr<RunTrack>& track) {
    const int own = track ? track->hue.own : -1;
    auto* card = new RunCard(title, context_.theme->run(preset, own), page_);
    shown_.push_back({track, card});
}

void RunCards::rebuild() {
    for (const Shown& shown : shown_) delete shown.card;
    shown_.clear();
    const auto tracks = context_.feed->tracks();
    const bool tabled = isTabled();
    if (tracks.empty()) {
        for (const QString& preset : context_.settings->comparison()) {
            if (shown_.size() == abreast) break;
            const std::string name = preset.toStdString();
            addCard(name, precisionTitle(name), nullptr);
        }
    }
    for (const auto& track : tracks) {
        if (tabled) {
            shown_.push_back({track, nullptr});
        } else {
            addCard(track->precision(), trackTitle(*track), track);
        }
    }
    setCurrentWidget(tabled ? static_cast<QWidget*>(table_) : page_);
    refresh();
    arrange();
}

bool RunCards::isTabled() const {
    return context_.feed->tracks().size() > (low_ ? abreastInLow : abreast);
}

void RunCards::setLow(bool low) {
    const bool before = isTabled();
    low_ = low;
    // Once the window has its size: cards are arranged by their width.
    if (isTabled() != before) {
        QMetaObject::invokeMethod(this, &RunCards::rebuild, Qt::QueuedConnection);
    }
}

QSize RunCards::minimumSizeHint() const {
    return {minWidth, QStackedWidget::minimumSizeHint().height()};
}

void RunCards::resizeEvent(QResizeEvent* event) {
    QStackedWidget::resizeEvent(event);
    arrange();
}

void RunCards::arrange() {
    if (currentWidget() == table_) {
        const int rows = std::min(static_cast<int>(shown_.size()), maxRows);
        setFixedHeight(table_->horizontalHeader()->sizeHint().height() +
                       rows * table_->verticalHeader()->defaultSectionSize() +
                       2 * table_->frameWidth());
        return;
    }
    const int count = static_cast<int>(shown_.size());
    if (count == 0) return setFixedHeight(RunCard::heightFor(true));
    const auto widthIn = [this](int columns) {
        return (width() - (columns - 1) * size::gap) / columns;
    };
    // All in one row, else in two of as many as there can be, else below one another.
    int columns = count;
    if (widthIn(columns) < RunCard::tallWidth()) columns = (count + 1) / 2;
    if (widthIn(columns) < RunCard::tallWidth()) columns = 1;
    const bool wide = widthIn(columns) >= RunCard::wideWidth();
    const int rows = (count + columns - 1) / columns;
    for (int i = 0; i < count; ++i) {
        RunCard* card = shown_[static_cast<std::size_t>(i)].card;
        card->setWide(wide);
        cards_->removeWidget(card);
        // The last one fills its row: no hole beside three cards in two rows.
        const int span = i + 1 == count ? columns - i % columns : 1;
        cards_->addWidget(card, i / columns, i % columns, 1, span);
        card->QWidget::show();
    }
    for (int i = 0; i < static_cast<int>(abreast); ++i)
        cards_->setColumnStretch(i, i < columns ? 1 : 0);
    setFixedHeight(rows * RunCard::heightFor(wide) + (rows - 1) * size::gap);
}

void RunCards::refresh() {
    if (currentWidget() == table_) {
        fillTable();
        return;
    }
    const auto& config = context_.settings->config();
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        const auto& [track, card] = shown_[i];
        card->setMeasures(track ? track->metrics() : context_.settings->metrics(),
                          track ? track->unit() : engine::sample_unit(config));
        card->setTask(taskTitle(track ? track->config() : config));
        card->show(track.get(), i == 0 && shown_.size() > 1);
    }
}

void RunCards::fillTable() {
    table_->setRowCount(static_cast<int>(shown_.size()));
    // Runs of other tasks have metrics and units of their own, which stand in their rows then.
    const auto sameHeads = [this](const auto& head) {
        return std::ranges::all_of(shown_, [&](const Shown& each) {
            return head(*each.track) == head(*shown_.front().track);
        });
    };
    const auto metricHead = [](const RunTrack& track) { return testCaption(track.metrics()); };
    const auto speedHead = [](const RunTrack& track) { return speedUnit(track.unit()); };
    const bool oneMetric = sameHeads(metricHead), oneUnit = sameHeads(speedHead);
    if (!shown_.empty()) {
        const RunTrack& first = *shown_.front().track;
        table_->horizontalHeaderItem(3)->setText(oneMetric ? metricHead(first) : tr("test metric"));
        table_->horizontalHeaderItem(4)->setText(oneUnit ? speedHead(first) : tr("mean speed"));
    }
    for (int i = 0; i < table_->rowCount(); ++i) {
        const RunTrack& track = *shown_[static_cast<std::size_t>(i)].track;
        const CardFigures figures = figuresOf(&track);
        const QString cells[] = {
            trackTitle(track),
            stateOf(track),
            figures.loss,
            oneMetric ? figures.metric : metricHead(track) + u' ' + figures.metric,
            oneUnit ? figures.speed : figures.speed + u' ' + speedHead(track),
            figures.peak};
        for (int c = 0; c < 6; ++c) {
            if (table_->item(i, c) == nullptr) table_->setItem(i, c, new QTableWidgetItem);
            table_->item(i, c)->setText(cells[c]);
        }
        table_->item(i, 0)->setToolTip(taskTitle(track.config()));
        table_->item(i, 0)->setIcon(
            iconPixmap(u"dot"_s, context_.theme->run(track), size::icon, 2.0));
    }
}

}  // namespace ui
