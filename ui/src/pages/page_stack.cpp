#include "pages/page_stack.h"

#include <QAction>
#include <QApplication>
#include <QLayout>
#include <QScopedValueRollback>
#include <QSettings>
#include <algorithm>
#include <span>

#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "widgets/key_bindings.h"

namespace ui {
namespace {

constexpr int maxShortcuts = 10;  // Ctrl+1 to Ctrl+9, then Ctrl+0

QString commandOf(const PageEntry& page) { return u"page/"_s + page.name; }

QKeySequence usualKey(const std::vector<PageEntry>& pages, std::size_t index) {
    if (pages[index].key != 0) return QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key(pages[index].key));
    const auto before = std::span(pages).first(index);
    const auto digit = static_cast<int>(std::ranges::count(before, 0, &PageEntry::key));
    return digit < maxShortcuts
               ? QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_0 + (digit + 1) % maxShortcuts))
               : QKeySequence();
}

QKeySequence keyOf(const std::vector<PageEntry>& pages, std::size_t index) {
    return KeyBindings::keys(commandOf(pages[index]), {usualKey(pages, index)}).value(0);
}

}  // namespace

PageStack::PageStack(const Context& context, std::vector<PageEntry> entries, QWidget* parent)
    : QStackedWidget(parent),
      context_(context),
      entries_(std::move(entries)),
      pages_(entries_.size(), nullptr) {
    open(0);
    if (entries_.size() > 1) makeTabs();
}

void PageStack::makeTabs() {
    row_ = new QTabBar(this);
    row_->setExpanding(false);
    row_->setAccessibleName(tr("Pages"));
    for (int i = 0; i < static_cast<int>(entries_.size()); ++i) addTab(i);
    connect(row_, &QTabBar::currentChanged, this, [this](int index) {
        open(index);
        const QString& name = entries_[static_cast<std::size_t>(index)].name;
        if (!refreshing_) QSettings().setValue(u"window/page"_s, name);
    });
    connect(context_.feed, &EventFeed::tracksChanged, this, &PageStack::refresh);
    refresh();
}

void PageStack::addTab(int index) {
    row_->addTab(entries_[static_cast<std::size_t>(index)].title);
    const PageEntry& entry = entries_[static_cast<std::size_t>(index)];
    auto* action = new QAction(entry.title, row_);
    KeyBindings::instance()->bind(action, commandOf(entry),
                                  {usualKey(entries_, static_cast<std::size_t>(index))});
    connect(action, &QAction::triggered, row_, [row = row_, index] {
        if (row->isTabEnabled(index)) row->setCurrentIndex(index);
    });
    row_->addAction(action);
}

void PageStack::make(std::size_t index) {
    if (pages_[index] != nullptr) return;
    pages_[index] = entries_[index].make(context_, this);
    addWidget(pages_[index]);
}

QStringList PageStack::made() const {
    QStringList names;
    for (std::size_t i = 0; i < pages_.size(); ++i)
        if (pages_[i] != nullptr) names << entries_[i].name;
    return names;
}

void PageStack::make(const QStringList& names) {
    for (std::size_t i = 0; i < pages_.size(); ++i)
        if (names.contains(entries_[i].name)) make(i);
}

void PageStack::open(int index) {
    const auto at = static_cast<std::size_t>(index);
    make(at);
    emit pageChanging(entries_[at]);
    setCurrentWidget(pages_[at]);
    updateGeometry();
    emit pageChanged(entries_[at]);
}

const PageEntry& PageStack::shown() const {
    const auto found = std::ranges::find(pages_, currentWidget());
    return entries_[static_cast<std::size_t>(found - pages_.begin())];
}

QSize PageStack::minimumSizeHint() const {
    return currentWidget() == nullptr ? QSize() : currentWidget()->minimumSizeHint();
}

QSize PageStack::sizeHint() const {
    return currentWidget() == nullptr ? QSize() : currentWidget()->sizeHint();
}

int PageStack::heightForWidth(int width) const {
    const QLayout* layout = currentWidget() == nullptr ? nullptr : currentWidget()->layout();
    if (layout == nullptr || !layout->hasHeightForWidth()) return minimumSizeHint().height();
    return layout->totalMinimumHeightForWidth(width);
}

void PageStack::restore() {
    if (row_ == nullptr) return;
    showPage(QSettings().value(u"window/page"_s).toString());
}

void PageStack::showPage(const QString& name) {
    if (row_ == nullptr) return;
    for (int i = 0; i < row_->count(); ++i) {
        if (entries_[static_cast<std::size_t>(i)].name == name && row_->isTabEnabled(i))
            row_->setCurrentIndex(i);
    }
}

void PageStack::refresh() {
    // If the current page becomes unusable, the first one replaces it. The user did not choose
    // that, so it is not saved.
    const QScopedValueRollback refreshing(refreshing_, true);
    const bool runs = !context_.feed->tracks().empty();
    for (int i = 0; i < row_->count(); ++i) {
        const bool usable = runs || !entries_[static_cast<std::size_t>(i)].needsRun;
        if (!usable && row_->currentIndex() == i) row_->setCurrentIndex(0);
        row_->setTabEnabled(i, usable);
        row_->setTabToolTip(
            i,
            usable
                ? keyOf(entries_, static_cast<std::size_t>(i)).toString(QKeySequence::NativeText)
                : tr("This page needs a run. Start one, or select one under "
                     "Runs."));
    }
}

namespace {

constexpr QSize minPage = {400, 240};

}  // namespace

PageArea::PageArea(QWidget* pages, QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    setWidget(pages);
    viewport()->setAutoFillBackground(false);
    pages->setAutoFillBackground(false);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (now != nullptr && widget()->isAncestorOf(now)) ensureWidgetVisible(now, 0, 0);
    });
}

QSize PageArea::minimumSizeHint() const { return widget()->minimumSizeHint().boundedTo(minPage); }

QSize PageArea::sizeHint() const { return widget()->sizeHint(); }

}  // namespace ui
