#include "widgets/panel.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyle>
#include <QTableView>

#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"

namespace ui {

Panel::Panel(Theme* theme, const QString& name, const QString& title, QWidget* body,
             QWidget* parent)
    : QDockWidget(title, parent), theme_(theme), body_(body) {
    setObjectName(name);
    setAccessibleName(title);
    head_ = withName(new QWidget(this), u"panelHead"_s);
    head_->setAttribute(Qt::WA_StyledBackground);
    const int height = Theme::rowHeight(size::head + 2);
    head_->setFixedHeight(height);
    head_->installEventFilter(this);
    row_ = new QHBoxLayout(head_);
    row_->setContentsMargins(size::inside - 2, 0, size::grid, 0);
    row_->setSpacing(size::gap);
    row_->addStrut(height);  // a dock asks the layout for the height, not the widget
    title_ = makeLabel(title);
    title_->setFont(Theme::bold());
    note_ = new ElidedLabel;
    note_->setProperty("role", u"dim"_s);
    note_->setFont(Theme::caption());
    note_->setMinimumWidth(0);
    note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row_->addWidget(title_);
    row_->addWidget(note_, 1);
    setTitleBarWidget(head_);

    auto* frame = withName(new QWidget(this), u"panelBody"_s);
    frame->setAttribute(Qt::WA_StyledBackground);
    auto* inside = new QVBoxLayout(frame);
    inside->setContentsMargins(1, 0, 1, size::grid);
    inside->setSpacing(0);
    inside->addWidget(body_);
    setWidget(frame);
    connect(theme_, &Theme::changed, this, &Panel::applyStyle);
}

void Panel::setTitle(const QString& title) {
    title_->setText(title);
    setWindowTitle(title);
}

void Panel::setNote(const QString& note) {
    note_->setText(note);
}

void Panel::addToHead(QWidget* widget) {
    int at = row_->count();
    for (const auto& [button, icon] : tools_) at = std::min(at, row_->indexOf(button));
    row_->insertWidget(at, widget);
}

void Panel::fillHead(QWidget* widget) {
    filling_ = widget;
    row_->insertWidget(0, widget, 1);
    showHead(widget);
}

void Panel::showHead(QWidget* widget) {
    if (filling_ != nullptr) filling_->setVisible(widget != nullptr);
    note_->setVisible(widget == nullptr);
    title_->setVisible(widget == nullptr);
}

QToolButton* Panel::tool(const QString& icon, const QString& name) {
    auto* button = new QToolButton(head_);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setIconSize({13, 13});
    row_->addWidget(button);
    tools_.append({button, icon});
    applyStyle();
    return button;
}

void Panel::makeExpandable() {
    expandable_ = true;
    connect(tool(u"expand"_s, tr("Fill the centre (Esc returns)")), &QToolButton::clicked, this,
            &Panel::expandRequested);
}

QMenu* Panel::menu() {
    if (menu_ == nullptr) {
        menu_ = new QMenu(this);
        auto* button = tool(u"more"_s, tr("More"));
        button->setPopupMode(QToolButton::InstantPopup);
        button->setMenu(menu_);
    }
    return menu_;
}

void Panel::applyStyle() {
    for (const auto& [button, icon] : tools_) button->setIcon(themedIcon(*theme_, icon));
}

bool Panel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == head_ && event->type() == QEvent::MouseButtonDblClick && expandable_) {
        emit expandRequested();
        return true;
    }
    return QDockWidget::eventFilter(watched, event);
}

void paintEmpty(QWidget* area, const Theme& theme, const QString& sentence) {
    QPainter painter(area);
    painter.setPen(theme.tokens().dim);
    painter.setFont(Theme::caption());
    painter.drawText(area->rect().adjusted(size::inside, size::gap, -size::inside, -size::gap),
                     Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, sentence);
}

QLabel* makeLabel(const QString& text, const char* role, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    if (role != nullptr) label->setProperty("role", QString::fromLatin1(role));
    return label;
}

QLabel* makeProse(const QString& text, const char* role, QWidget* parent) {
    auto* label = makeLabel(text, role, parent);
    label->setWordWrap(true);
    return label;
}

QLabel* makeSmall(const QString& text, const char* role, QWidget* parent) {
    auto* label = makeLabel(text, role, parent);
    label->setFont(Theme::caption());
    return label;
}

QLabel* makeTitle(const QString& text, const char* role, QWidget* parent) {
    auto* label = makeLabel(text, role, parent);
    label->setFont(Theme::bold());
    return label;
}

namespace {

template <typename Layout>
Layout* makeLayout(QWidget* parent, const QMargins& margins, int spacing) {
    auto* layout = new Layout(parent);
    layout->setContentsMargins(margins);
    if (spacing >= 0) layout->setSpacing(spacing);
    return layout;
}

}  // namespace

QHBoxLayout* makeRow(QWidget* parent, const QMargins& margins, int spacing) {
    return makeLayout<QHBoxLayout>(parent, margins, spacing);
}

QVBoxLayout* makeColumn(QWidget* parent, const QMargins& margins, int spacing) {
    return makeLayout<QVBoxLayout>(parent, margins, spacing);
}

QHBoxLayout* makeRow(int spacing) {
    auto* row = new QHBoxLayout;
    row->setSpacing(spacing);
    return row;
}

QVBoxLayout* makeColumn(int spacing) {
    auto* column = new QVBoxLayout;
    column->setSpacing(spacing);
    return column;
}

QFrame* makeCard(QWidget* parent) {
    auto* card = withName(new QFrame(parent), u"card"_s);
    return card;
}

QToolButton* makeLink(const QString& text, QWidget* parent) {
    auto* link = new QToolButton(parent);
    link->setText(text);
    link->setProperty("role", u"link"_s);
    link->setCursor(Qt::PointingHandCursor);
    return link;
}

void scaleTexts(QWidget* root, double scale) {
    if (scale == 1) return;
    for (auto* widget : root->findChildren<QWidget*>()) {
        if (widget->property("scaled").toBool()) continue;
        widget->setProperty("scaled", true);
        QFont font = widget->font();
        font.setPointSizeF(font.pointSizeF() * scale);
        widget->setFont(font);
    }
}

void restyle(QWidget* widget, const char* property, const QVariant& value) {
    if (widget->property(property) == value) return;
    widget->setProperty(property, value);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent),
      head_(new QHBoxLayout),
      column_(new QVBoxLayout(this)),
      title_(makeLabel(title, nullptr, this)),
      note_(new ElidedLabel(this)) {
    setObjectName(u"card"_s);
    column_->setContentsMargins(1, 1, 1, size::grid);
    column_->setSpacing(0);
    title_->setFont(Theme::bold());
    title_->setTextFormat(Qt::PlainText);
    note_->setProperty("role", u"dim"_s);
    note_->setFont(Theme::caption());
    head_->setContentsMargins(size::inside, 0, size::gap, 0);
    head_->setSpacing(size::gap);
    head_->addStrut(size::head + 2);
    head_->addWidget(title_);
    head_->addWidget(note_, 1);
    column_->addLayout(head_);
}

void Card::setTitle(const QString& title) {
    if (title_->text() != title) title_->setText(title);
}

void Card::setNote(const QString& note) { note_->setText(note); }

void Card::addToHead(QWidget* widget) { head_->addWidget(widget); }

void Card::addBody(QWidget* widget, int stretch) { column_->addWidget(widget, stretch); }

QTableView* makePlainTable(const QString& name, QAbstractItemModel* model, QWidget* parent) {
    auto* table = new QTableView(parent);
    table->setObjectName(name);
    table->setModel(model);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    return table;
}

}  // namespace ui
