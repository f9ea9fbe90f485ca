#include "window/message_bar.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QToolButton>
#include <algorithm>
#include <iterator>

#include "text/event_text.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

MessageBar::MessageBar(Theme* theme, QWidget* over, QWidget* parent)
    : QFrame(parent), theme_(theme), over_(over) {
    setObjectName(u"message"_s);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(size::inside, size::grid, size::gap, size::grid);
    row->setSpacing(size::gap);
    icon_ = new QLabel(this);
    text_ = new QLabel(this);
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::RichText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    button_ = new QPushButton(this);
    auto* close = new QToolButton(this);
    close->setAccessibleName(tr("Close this message"));
    close->setToolTip(close->accessibleName());
    const auto applyStyle = [this, close] {
        close->setIcon(themedIcon(*theme_, u"close"_s));
        icon_->setPixmap(iconPixmap(
            property("tone") == u"note"_s ? u"warning"_s : u"error"_s,
            property("tone") == u"note"_s ? theme_->tokens().accent : theme_->tokens().bad,
            size::icon, 2.0));
    };
    applyStyle();
    connect(theme_, &Theme::changed, this, applyStyle);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    connect(button_, &QPushButton::clicked, this, [this] {
        hide();
        if (action_) action_();
    });
    row->addWidget(icon_, 0, Qt::AlignTop);
    row->addWidget(text_, 1);
    row->addWidget(button_);
    row->addWidget(close, 0, Qt::AlignTop);
    parent->installEventFilter(this);
    if (over_ != nullptr) over_->installEventFilter(this);
    hide();
}

bool MessageBar::eventFilter(QObject* watched, QEvent* event) {
    const QEvent::Type moves[] = {QEvent::Resize, QEvent::Move, QEvent::Show, QEvent::Hide};
    if (std::ranges::find(moves, event->type()) != std::end(moves)) place();
    return QFrame::eventFilter(watched, event);
}

/// The words are measured once the layout has its new widths.
bool MessageBar::event(QEvent* event) {
    const bool done = QFrame::event(event);
    if (event->type() == QEvent::LayoutRequest) place();
    return done;
}

void MessageBar::place() {
    const int width = parentWidget()->width();
    const int height = std::max(minimumSizeHint().height(), heightForWidth(width));
    setGeometry(0, topFor(height), width, height);
    makeRoom(isVisible() && !standsOver() ? height + size::gap : 0);
}

/// The head of a page stays in sight and in reach.
void MessageBar::makeRoom(int height) {
    if (auto* layout = parentWidget()->layout()) layout->setContentsMargins(0, height, 0, 0);
}

bool MessageBar::standsOver() const { return over_ != nullptr && over_->isVisible(); }

void MessageBar::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    place();
}

void MessageBar::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    makeRoom(0);
}

/// Centred in the other widget while the gaps above and below suffice, else from its top.
int MessageBar::topFor(int height) const {
    if (!standsOver()) return 0;
    const int top = over_->mapTo(parentWidget(), QPoint()).y();
    return std::max(top - size::gap + 1, top + (over_->height() - height) / 2);
}

void MessageBar::show(const Problem& problem, const QString& doIt, std::function<void()> action) {
    restyle(this, "tone", problem.note ? u"note"_s : u"error"_s);
    icon_->setPixmap(iconPixmap(problem.note ? u"warning"_s : u"error"_s,
                                problem.note ? theme_->tokens().accent : theme_->tokens().bad,
                                size::icon, 2.0));
    const QString what = sentence(problem.sentence), whole = joined({what, problem.hint});
    text_->setText(
        u"<b>%1</b>%2"_s.arg(what.toHtmlEscaped(), whole.mid(what.size()).toHtmlEscaped()));
    setAccessibleName(whole);
    action_ = std::move(action);
    button_->setText(doIt);
    button_->setVisible(!doIt.isEmpty());
    ensurePolished();
    place();
    raise();
    QFrame::show();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

}  // namespace ui
