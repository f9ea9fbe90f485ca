#include "window/message_bar.h"

#include <QAccessible>
#include <QToolButton>
#include <algorithm>
#include <iterator>

#include "text/event_text.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

MessageBar::MessageBar(Theme* theme, QWidget* over, QWidget* parent)
    : QFrame(parent), theme_(theme), over_(over) {
    setObjectName(u"message"_s);
    auto* row = makeRow(this, {size::inside, size::grid, size::gap, size::grid}, size::gap);
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
        applyIcon();
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
    if (!isVisibleTo(parentWidget())) return;
    if (over_ != nullptr && over_->isVisible()) {
        const QPoint at = over_->mapTo(parentWidget(), QPoint());
        setGeometry(at.x(), at.y(), over_->width(),
                    std::max(heightAt(over_->width()), over_->height()));
        return;
    }
    const QSize room = parentWidget()->size();
    const int height = heightAt(room.width());
    setGeometry(0, room.height() - height, room.width(), height);
}

int MessageBar::heightAt(int width) const {
    return std::max(minimumSizeHint().height(), heightForWidth(width));
}

void MessageBar::leave() {
    if (!lasts_) hide();
}

void MessageBar::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    place();
}

void MessageBar::applyIcon() {
    const Tokens& t = theme_->tokens();
    if (property("tone") != u"note"_s)
        icon_->setPixmap(iconPixmap(u"error"_s, t.bad, size::icon, 2.0));
    else if (answers_)
        icon_->setPixmap(iconPixmap(u"check"_s, t.good, size::icon, 2.0));
    else
        icon_->setPixmap(iconPixmap(u"dot"_s, t.accent, size::icon, 2.0));
}

void MessageBar::show(const Problem& problem, const QString& doIt, std::function<void()> action) {
    restyle(this, "tone", problem.note ? u"note"_s : u"error"_s);
    lasts_ = problem.lasts;
    answers_ = problem.note && (doIt.isEmpty() || !problem.file.isEmpty());
    applyIcon();
    const QString what = sentence(problem.sentence), whole = joined({what, problem.hint});
    text_->setText(
        u"<b>%1</b>%2"_s.arg(what.toHtmlEscaped(), whole.mid(what.size()).toHtmlEscaped()));
    setAccessibleName(whole);
    action_ = std::move(action);
    button_->setText(doIt);
    button_->setVisible(!doIt.isEmpty());
    ensurePolished();
    raise();
    QFrame::show();
    place();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

}  // namespace ui
