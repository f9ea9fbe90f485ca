#include "window/message_bar.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QToolButton>

#include "text/event_text.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

MessageBar::MessageBar(Theme* theme, QWidget* parent) : QFrame(parent), theme_(theme) {
    setObjectName(u"message"_s);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(size::inside, size::gap, size::gap, size::gap);
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
    const auto dress = [this, close] {
        close->setIcon(themedIcon(*theme_, u"close"_s));
        icon_->setPixmap(iconPixmap(
            property("tone") == u"note"_s ? u"warning"_s : u"error"_s,
            property("tone") == u"note"_s ? theme_->tokens().accent : theme_->tokens().bad,
            size::icon, 2.0));
    };
    dress();
    connect(theme_, &Theme::changed, this, dress);
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
    hide();
}

bool MessageBar::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) place();
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
    setGeometry(0, 0, width, std::max(minimumSizeHint().height(), heightForWidth(width)));
}

void MessageBar::show(const Problem& problem, const QString& doIt, std::function<void()> action) {
    restyle(this, "tone", problem.note ? u"note"_s : u"error"_s);
    icon_->setPixmap(iconPixmap(problem.note ? u"warning"_s : u"error"_s,
                                problem.note ? theme_->tokens().accent : theme_->tokens().bad,
                                size::icon, 2.0));
    QString text = u"<b>"_s + sentence(problem.sentence).toHtmlEscaped() + u"</b>"_s;
    if (!problem.hint.isEmpty()) text += u' ' + problem.hint.toHtmlEscaped();
    text_->setText(text);
    setAccessibleName(problem.sentence + u' ' + problem.hint);
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
