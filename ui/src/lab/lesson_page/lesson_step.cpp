#include "lab/lesson_page/lesson_step.h"

#include <QEvent>
#include <QPainter>
#include <QPainterPath>

#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

LessonStep::LessonStep(const Theme* theme, int number, bool last, const QString& title,
                       QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      number_(number),
      last_(last),
      title_(makeLabel(title, nullptr, this)),
      note_(makeProse({}, "dim", this)),
      body_(new QWidget(this)) {
    QFont bold = font();
    bold.setWeight(QFont::Bold);
    title_->setFont(bold);
    auto* outer =
        makeColumn(this, {disc() + size::inside, 0, 0, size::inside + size::grid}, size::grid);
    auto* head = makeRow(size::gap);
    head->addStrut(disc());
    head->addWidget(title_);
    head->addWidget(note_, 1);
    outer->addLayout(head);
    outer->addWidget(body_, 1);
    column_ = makeColumn(body_, {}, size::gap);
    setAccessibleName(title);
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LessonStep::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange && layout() != nullptr)
        layout()->setContentsMargins(disc() + size::inside, 0, 0, size::inside + size::grid);
}

int LessonStep::disc() const { return fontMetrics().height() + 4; }

void LessonStep::setNote(const QString& note) {
    if (note_->text() != note) note_->setText(note);
}

void LessonStep::setState(State state) {
    if (state == state_) return;
    state_ = state;
    showTitle();
    update();
}

void LessonStep::setOpen(bool open) {
    open_ = open;
    body_->setVisible(open);
    showTitle();
    updateGeometry();
}

void LessonStep::showTitle() {
    const bool dim = state_ == State::later && !open_;
    const QFont font =
        title_->font();  // larger on a projector; a style sheet applied anew resets it
    restyle(title_, "role", dim ? QVariant(u"dim"_s) : QVariant());
    title_->setFont(font);
}

void LessonStep::add(QWidget* part, int stretch) { column_->addWidget(part, stretch); }

void LessonStep::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF circle(0.5, 0.5, disc() - 1, disc() - 1);
    if (!last_) {
        painter.setPen(QPen(state_ == State::done ? t.good : t.line, 2));
        painter.drawLine(QPointF(circle.center().x(), circle.bottom() + 1),
                         QPointF(circle.center().x(), height()));
    }
    const QColor fill = state_ == State::done      ? t.good
                        : state_ == State::current ? t.accent
                                                   : t.panel;
    painter.setPen(QPen(state_ == State::later ? t.line : fill, 1));
    painter.setBrush(fill);
    painter.drawEllipse(circle);
    const QColor ink = state_ == State::later ? t.dim : t.onAccent;
    if (state_ == State::done) {
        const double w = circle.width();
        QPainterPath tick(circle.topLeft() + QPointF(0.30 * w, 0.52 * w));
        tick.lineTo(circle.topLeft() + QPointF(0.44 * w, 0.66 * w));
        tick.lineTo(circle.topLeft() + QPointF(0.71 * w, 0.36 * w));
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(ink, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPath(tick);
    } else {
        QFont small = font();
        small.setPointSizeF(small.pointSizeF() * 0.9);
        painter.setFont(small);
        painter.setPen(ink);
        painter.drawText(circle, Qt::AlignCenter, QString::number(number_));
    }
}

}  // namespace ui
