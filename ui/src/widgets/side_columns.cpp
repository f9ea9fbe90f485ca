#include "widgets/side_columns.h"

#include <QApplication>
#include <QPointer>
#include <QResizeEvent>
#include <utility>

#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

namespace {

constexpr int mainShare = 3, tabsShare = 2;  // of a narrow window's height
constexpr int shareUnit = 1000;              // pixels, which a splitter scales to what it has

/// A container for parts. Its minimum height depends on its width, as for wrapping text; a splitter
/// only queries the minimum height.
class Box final : public QWidget {
public:
    Box(QBoxLayout::Direction way, QWidget* parent) : QWidget(parent) {
        auto* layout = new QBoxLayout(way, this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(size::gap);
    }
    QSize minimumSizeHint() const override {
        QSize least = layout()->minimumSize();
        if (layout()->hasHeightForWidth())
            least.setHeight(std::max(least.height(), layout()->minimumHeightForWidth(width())));
        return least;
    }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QWidget::resizeEvent(event);
        if (event->size().width() != event->oldSize().width()) updateGeometry();
    }
};

}  // namespace

SideColumns::SideColumns(QWidget* main, QWidget* parent)
    : QWidget(parent),
      main_(main),
      wide_(makeSplitter(Qt::Horizontal, this)),
      centre_(makeSplitter(Qt::Vertical, this)),
      narrow_(makeSplitter(Qt::Vertical, this)),
      tabs_(new QTabBar(this)),
      tabbed_(new QStackedWidget(this)) {
    boxes_ = {{Place::left, new Box(QBoxLayout::TopToBottom, this)},
              {Place::below, new Box(QBoxLayout::LeftToRight, this)},
              {Place::right, new Box(QBoxLayout::TopToBottom, this)}};
    for (QWidget* column :
         {boxes_[Place::left], static_cast<QWidget*>(centre_), boxes_[Place::right]})
        wide_->addWidget(column);
    addWidgets(centre_, {main_, boxes_[Place::below]});
    for (const auto& [place, box] : boxes_) box->hide();
    auto* beneath = new QWidget(narrow_);
    auto* stack = makeColumn(beneath, {}, size::grid);
    stack->addWidget(tabs_);
    stack->addWidget(tabbed_, 1);
    narrow_->addWidget(beneath);
    narrow_->hide();
    shares_[narrow_] = {mainShare, tabsShare};
    tabs_->setExpanding(false);
    tabs_->setAccessibleName(tr("Panels"));
    connect(tabs_, &QTabBar::currentChanged, tabbed_, &QStackedWidget::setCurrentIndex);
    auto* column = makeColumn(this, {}, 0);
    column->addWidget(wide_, 1);
    column->addWidget(narrow_, 1);
}

QSplitter* SideColumns::makeSplitter(Qt::Orientation way, QWidget* parent) {
    auto* splitter = new QSplitter(way, parent);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(size::gap);
    return splitter;
}

void SideColumns::add(Place place, const QString& title, QWidget* part, int stretch) {
    QWidget* box = boxes_[place];
    auto* home = static_cast<QBoxLayout*>(box->layout());
    home->addWidget(part, stretch);
    box->show();
    parts_.push_back({home, part, stretch});
    tabs_->addTab(title);
    tabs_->updateGeometry();  // which a tab bar that is not visible leaves out
}

void SideColumns::setShares(int left, int centre, int right) {
    shares_[wide_] = {left, centre, right};
    int column = 0;
    for (const int share : {left, centre, right}) wide_->setStretchFactor(column++, share);
}

void SideColumns::setHeights(int main, int below) {
    if (below > 0) shares_[centre_] = {main, below};
    centre_->setStretchFactor(0, main);
    centre_->setStretchFactor(1, below);
}

/// A splitter begins with the sizes that its parts ask for, and shares only what is left.
void SideColumns::applyShares(QSplitter* splitter) {
    if (sizes_.contains(splitter)) return;
    QList<int> sizes = shares_[splitter];
    for (int& size : sizes) size *= shareUnit;
    if (!sizes.isEmpty()) splitter->setSizes(sizes);
}

void SideColumns::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    fit();
}

void SideColumns::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
}

void SideColumns::fit() {
    const bool narrow = window()->width() < Theme::foldWidth();
    if (narrow == folded_ || parts_.empty()) {
        if (isVisible() && !settled_ && !folded_) restoreSizes();
        settled_ = isVisible();
        return;
    }
    const QPointer<QWidget> focus(QApplication::focusWidget());
    const bool inside = focus && isAncestorOf(focus);
    if (std::exchange(settled_, false)) keepSizes();
    folded_ = narrow;
    if (narrow)
        fold();
    else
        unfold();
    restoreSizes();
    // Once the new form is laid out.
    QMetaObject::invokeMethod(
        this, [this] { settled_ = isVisible(); }, Qt::QueuedConnection);
    // A widget that gets another parent loses the focus.
    if (inside && focus && focus->isVisibleTo(this)) focus->setFocus();
}

void SideColumns::fold() {
    wide_->hide();
    narrow_->insertWidget(0, main_);
    narrow_->setStretchFactor(0, mainShare);
    narrow_->setStretchFactor(1, tabsShare);
    const int shown = std::max(0, tabs_->currentIndex());
    for (const Part& part : parts_) tabbed_->addWidget(part.widget);
    tabbed_->setCurrentIndex(shown);
    narrow_->show();
}

void SideColumns::unfold() {
    narrow_->hide();
    centre_->insertWidget(0, main_);
    for (const Part& part : parts_) {
        part.home->addWidget(part.widget, part.stretch);
        part.widget->show();  // it may have been behind another tab
    }
    wide_->show();
}

/// Restores the sizes that the form had when it was last shown, else its shares.
void SideColumns::restoreSizes() {
    for (const auto& [splitter, sizes] : sizes_) {
        if ((splitter == narrow_) == folded_ && splitter->count() == sizes.size())
            splitter->setSizes(sizes);
    }
    for (QSplitter* splitter : shown()) applyShares(splitter);
}

/// Keeps the sizes of the visible form: a splitter loses them with its widgets.
void SideColumns::keepSizes() {
    for (QSplitter* splitter : shown()) sizes_[splitter] = splitter->sizes();
}

std::vector<QSplitter*> SideColumns::shown() const {
    return folded_ ? std::vector{narrow_} : std::vector{wide_, centre_};
}

}  // namespace ui
