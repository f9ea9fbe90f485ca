#include <QCoreApplication>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QToolButton>

#include "feed/event_feed.h"
#include "models/event_model.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "view/context.h"
#include "view/view.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// The events, newest first. A click selects the step in all plots.
class EventPanel final : public QListView {
    Q_DECLARE_TR_FUNCTIONS(ui::EventPanel)
public:
    explicit EventPanel(const Context& context, QWidget* parent = nullptr);
    /// Puts the filter into the head.
    void attachTo(ui::Panel* panel);  // QFrame has a Panel too

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void choose(const QModelIndex& index);
    /// Marks the event of the selected step, of the selected run if there is one.
    void follow();
    bool isSelected(const QModelIndex& index) const;
    quintptr selectedRun() const;

    Context context_;
    EventModel* model_;
    EventFilter* filter_;
};

constexpr int minStepWidth = 46;
constexpr int afterStep = 26;  ///< for the mark
constexpr int rowPadding = 5;

/// Step, mark, what happened; what it means in dim words below.
class EventDelegate final : public QStyledItemDelegate {
public:
    EventDelegate(const Theme* theme, QObject* parent)
        : QStyledItemDelegate(parent), theme_(theme) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const int width = textWidth(option, index);
        // Asked for every row whenever one is added: each is measured once.
        if (width != measuredAt_ || option.font != measuredIn_) heights_.clear();
        measuredAt_ = width;
        measuredIn_ = option.font;
        const qint64 id = index.data(EventModel::IdRole).toLongLong();
        const auto known = heights_.constFind(id);
        if (known != heights_.cend()) return {120, *known};
        if (heights_.size() > 4 * static_cast<qsizetype>(EventModel::most)) heights_.clear();
        const int height =
            2 * rowPadding +
            textHeight(index.data(EventModel::WhatRole).toString(), width, option.font) +
            textHeight(index.data(EventModel::MeaningRole).toString(), width, Theme::caption());
        heights_.insert(id, height);
        return {120, height};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Tokens& t = theme_->tokens();
        const QRect area = option.rect;
        painter->save();
        if ((option.state & QStyle::State_Selected) != 0) {
            painter->fillRect(area, blend(t.panel, t.accent, 0.16));
        }
        painter->setPen(t.grid);
        painter->drawLine(area.bottomLeft(), area.bottomRight());
        const int line = option.fontMetrics.height();
        const int steps = stepWidth(option, index);
        const auto step = index.data(EventModel::StepRole).toLongLong();
        painter->setPen(t.dim);
        painter->setFont(option.font);
        if (step > 0) {
            painter->drawText(QRect(area.left() + 4, area.top() + rowPadding, steps, line),
                              Qt::AlignRight, count(step));
        }
        const auto [icon, color] = mark(index, t);
        painter->drawPixmap(area.left() + steps + 9, area.top() + rowPadding + (line - 12) / 2,
                            iconPixmap(icon, color, 12, painter->device()->devicePixelRatioF()));
        const QRect text(area.left() + steps + afterStep, area.top() + rowPadding,
                         textWidth(option, index), area.height() - rowPadding);
        const QString what = index.data(EventModel::WhatRole).toString();
        painter->setPen(t.text);
        painter->drawText(text, Qt::TextWordWrap, what);
        painter->setPen(t.dim);
        painter->setFont(Theme::caption());
        painter->drawText(text.adjusted(0, textHeight(what, text.width(), option.font), 0, 0),
                          Qt::TextWordWrap, index.data(EventModel::MeaningRole).toString());
        painter->restore();
    }

private:
    /// Room for the highest step number, which is at the top, the same in all rows.
    int stepWidth(const QStyleOptionViewItem& option, const QModelIndex& index) const {
        const auto step = index.siblingAtRow(0).data(EventModel::StepRole).toLongLong();
        if (step != topStep_ || option.font != topFont_) {
            topStep_ = step;
            topFont_ = option.font;
            topWidth_ = std::max(minStepWidth, option.fontMetrics.horizontalAdvance(count(step)));
        }
        return topWidth_;
    }

    /// Width of the text, equal with and without a scroll bar, so that text wraps as it was
    /// measured.
    int textWidth(const QStyleOptionViewItem& option, const QModelIndex& index) const {
        const auto* list = qobject_cast<const QListView*>(option.widget);
        if (list == nullptr) return 200;
        const int bar = list->verticalScrollBar()->sizeHint().width();
        return std::max(80, list->width() - bar - stepWidth(option, index) - afterStep - 8);
    }

    static int textHeight(const QString& text, int width, const QFont& font) {
        if (text.isEmpty()) return 0;
        return QFontMetrics(font).boundingRect(0, 0, width, 1000, Qt::TextWordWrap, text).height();
    }

    std::pair<QString, QColor> mark(const QModelIndex& index, const Tokens& t) const {
        const QColor run =
            theme_->run(index.data(EventModel::PrecisionRole).toString().toStdString(),
                        index.data(EventModel::OwnColorRole).toInt());
        switch (static_cast<EventKind>(index.data(EventModel::KindRole).toInt())) {
            case EventKind::grown:
                return {u"grown"_s, t.good};
            case EventKind::skipped:
                return {u"skipped"_s, t.bad};
            case EventKind::warning:
                return {u"warning"_s, t.caution};
            case EventKind::failed:
                return {u"error"_s, t.bad};
            case EventKind::epoch:
            case EventKind::started:
            case EventKind::saved:
            case EventKind::done:
                break;
        }
        return {u"dot"_s, run};
    }

    const Theme* theme_;
    mutable QHash<qint64, int> heights_;  ///< by id, at measuredAt_ and in measuredIn_
    mutable int measuredAt_ = 0;
    mutable QFont measuredIn_;
    mutable qlonglong topStep_ = -1;
    mutable QFont topFont_;
    mutable int topWidth_ = minStepWidth;
};

}  // namespace

EventPanel::EventPanel(const Context& context, QWidget* parent)
    : QListView(parent), context_(context) {
    model_ = new EventModel(this);
    filter_ = new EventFilter(this);
    filter_->setSourceModel(model_);
    setModel(filter_);
    setItemDelegate(new EventDelegate(context_.theme, this));
    setResizeMode(Adjust);  // words wrap anew
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Events"));
    setMinimumHeight(80);
    model_->follow(context_.feed);
    connect(this, &QListView::clicked, this, &EventPanel::choose);
    connect(this, &QListView::activated, this, &EventPanel::choose);
    connect(selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& now) {
                if (hasFocus() && !isSelected(now)) choose(now);
            });
    connect(context_.link, &PlotLink::selectedChanged, this, &EventPanel::follow);
    connect(context_.theme, &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void EventPanel::attachTo(ui::Panel* panel) {
    auto* chooser = new QToolButton(panel);
    chooser->setProperty("role", u"dim"_s);
    chooser->setPopupMode(QToolButton::InstantPopup);
    chooser->setAccessibleName(tr("Which events are shown"));
    chooser->setLayoutDirection(Qt::RightToLeft);
    chooser->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chooser->setIconSize({10, 10});
    chooser->setIcon(themedIcon(*context_.theme, u"down"_s));
    connect(context_.theme, &Theme::changed, chooser,
            [this, chooser] { chooser->setIcon(themedIcon(*context_.theme, u"down"_s)); });
    auto* menu = new QMenu(chooser);
    const std::pair<QString, EventFilter::Show> choices[] = {
        {tr("all"), EventFilter::Show::all},
        {tr("skips"), EventFilter::Show::skips},
        {tr("loss scale"), EventFilter::Show::scale},
        {tr("epochs"), EventFilter::Show::epochs}};
    for (const auto& [name, show] : choices) {
        connect(menu->addAction(name), &QAction::triggered, this,
                [this, chooser, name = name, show = show] {
                    filter_->setShow(show);
                    chooser->setText(name);
                });
    }
    chooser->setText(choices[0].first);
    chooser->setMenu(menu);
    panel->addToHead(chooser);
}

void EventPanel::paintEvent(QPaintEvent* event) {
    QListView::paintEvent(event);
    if (filter_->rowCount() > 0) return;
    paintEmpty(viewport(), *context_.theme,
               model_->rowCount() > 0
                   ? tr("Nothing of this kind has happened yet.")
                   : tr("Skipped steps, scale growth and finished epochs will be listed here."));
}

void EventPanel::choose(const QModelIndex& index) {
    const auto step = index.data(EventModel::StepRole).toLongLong();
    const auto run = index.data(EventModel::RunRole).value<quintptr>();
    for (const auto& track : context_.feed->tracks()) {
        if (reinterpret_cast<quintptr>(track.get()) != run) continue;
        context_.link->select(step > 0 ? step : context_.link->selected(), track);
    }
}

quintptr EventPanel::selectedRun() const {
    return reinterpret_cast<quintptr>(selectedTrack(context_).get());
}

bool EventPanel::isSelected(const QModelIndex& index) const {
    const std::int64_t step = context_.link->selected();
    return index.isValid() && index.data(EventModel::StepRole).toLongLong() <= step &&
           step <= index.data(EventModel::LastStepRole).toLongLong() &&
           index.data(EventModel::RunRole).value<quintptr>() == selectedRun();
}

void EventPanel::follow() {
    if (isSelected(currentIndex())) return;
    for (int row = 0; row < filter_->rowCount(); ++row) {
        if (!isSelected(filter_->index(row, 0))) continue;
        setCurrentIndex(filter_->index(row, 0));
        return;
    }
    clearSelection();
}

Panel* makeEventPanel(const Context& context, const QString& name, QWidget* parent) {
    const QString title = QCoreApplication::translate("Panels", "Events");
    auto* body = new EventPanel(context);
    auto* panel = new Panel(context.theme, name, title, body, parent);
    body->attachTo(panel);
    return panel;
}

}  // namespace ui
