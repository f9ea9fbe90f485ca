#include "lab/lessons/lesson_list.h"

#include <QPainter>
#include <QPainterPath>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>
#include <algorithm>

#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
namespace {

enum Role { nameRole = Qt::UserRole, progressRole, brokenRole };
constexpr int ring = 13;

/// A ring that fills with the lesson's progress, a tick once it is done, then the title.
class LessonDelegate final : public QStyledItemDelegate {
public:
    LessonDelegate(const Theme* theme, QObject* parent)
        : QStyledItemDelegate(parent), theme_(theme) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const bool chapter = index.data(nameRole).isNull();
        return {80, option.fontMetrics.height() + (chapter ? 12 : 8)};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Tokens& t = theme_->tokens();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const QString text = index.data(Qt::DisplayRole).toString();
        if (index.data(nameRole).isNull()) {
            painter->setFont(Theme::caption());
            painter->setPen(t.dim);
            painter->drawText(option.rect.adjusted(size::inside, 6, -size::gap, 0),
                              Qt::AlignLeft | Qt::AlignVCenter, text);
            painter->restore();
            return;
        }
        const bool current = option.state.testFlag(QStyle::State_Selected);
        if (current) {
            painter->fillRect(option.rect, blend(t.panel, t.accent, 0.13));
            painter->fillRect(QRect(option.rect.topLeft(), QSize(3, option.rect.height())),
                              t.accent);
        }
        const QRectF circle(option.rect.left() + size::inside + 1,
                            option.rect.center().y() - ring / 2.0 + 0.5, ring, ring);
        paintRing(*painter, circle, index.data(progressRole).toDouble(),
                  index.data(brokenRole).toBool());
        QFont font = option.font;
        if (current) font.setWeight(QFont::Bold);
        painter->setFont(font);
        painter->setPen(t.text);
        const QRect words =
            option.rect.adjusted(size::inside + ring + size::gap + 2, 0, -size::gap, 0);
        painter->drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                          QFontMetrics(font).elidedText(text, Qt::ElideRight, words.width()));
        painter->restore();
    }

private:
    void paintRing(QPainter& painter, const QRectF& circle, double progress, bool broken) const {
        const Tokens& t = theme_->tokens();
        if (broken) {
            painter.setPen(QPen(t.bad, 1.5));
            painter.drawLine(circle.topLeft() + QPointF(3, 3),
                             circle.bottomRight() - QPointF(3, 3));
            painter.drawLine(circle.topRight() + QPointF(-3, 3),
                             circle.bottomLeft() + QPointF(3, -3));
        } else if (progress >= 1) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(t.good);
            painter.drawEllipse(circle);
            QPainterPath tick(circle.topLeft() + QPointF(0.28, 0.52) * ring);
            tick.lineTo(circle.topLeft() + QPointF(0.44, 0.68) * ring);
            tick.lineTo(circle.topLeft() + QPointF(0.74, 0.34) * ring);
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(t.onAccent, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            painter.drawPath(tick);
        } else {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(t.line, 1.5));
            painter.drawEllipse(circle);
            painter.setPen(QPen(t.accent, 2));
            painter.drawArc(circle, 90 * 16, -static_cast<int>(progress * 360 * 16));
        }
    }

    const Theme* theme_;
};

}  // namespace

LessonList::LessonList(const Theme* theme, QWidget* parent)
    : QFrame(parent),
      theme_(theme),
      count_(makeLabel({}, "dim", this)),
      list_(new QListWidget(this)) {
    setObjectName(u"card"_s);
    setProperty(readingGroup, true);
    auto* column = makeColumn(this, {1, 1, 1, 1}, 0);
    auto* head = makeRow(nullptr, {size::inside, 0, size::inside, 0});
    head->addStrut(size::head + 2);
    auto* title = makeTitle(tr("Lessons"), nullptr, this);
    head->addWidget(title);
    head->addStretch();
    head->addWidget(count_);
    column->addLayout(head);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setAccessibleName(tr("Lessons"));
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setItemDelegate(new LessonDelegate(theme_, list_));
    column->addWidget(list_, 1);
    auto* foot = makeRow(nullptr, {size::inside, size::gap, size::inside, size::gap});
    auto* open = makeLink(tr("Open lesson…"), this);
    foot->addWidget(open);
    auto* drop = new ElidedLabel(this);
    drop->setProperty("role", u"dim"_s);
    drop->setText(tr("or drop a file"));
    foot->addWidget(drop, 1);
    column->addLayout(foot);
    connect(open, &QToolButton::clicked, this, &LessonList::openWanted);
    connect(list_, &QListWidget::itemActivated, this, &LessonList::entered);
    connect(list_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (!filling_ && item != nullptr) emit chosen(item->data(nameRole).toString());
    });
    connect(theme_, &Theme::changed, list_->viewport(), qOverload<>(&QWidget::update));
}

void LessonList::setEntries(std::vector<LessonEntry> entries, const QString& current) {
    const QScopedValueRollback filling(filling_, true);
    entries_ = std::move(entries);
    list_->clear();
    QString chapter;
    for (const auto& entry : entries_) {
        if (entry.chapter != chapter) {
            chapter = entry.chapter;
            auto* head = new QListWidgetItem(chapter, list_);
            head->setFlags(Qt::NoItemFlags);
        }
        auto* item = new QListWidgetItem(entry.title, list_);
        item->setData(nameRole, entry.name);
        item->setData(progressRole, entry.progress);
        item->setData(brokenRole, entry.broken);
        QString tip = entry.title;
        if (entry.minutes > 0) tip += u'\n' + tr("about %1 min").arg(entry.minutes);
        if (!entry.from.isEmpty()) tip += u'\n' + entry.from;
        item->setToolTip(tip);
    }
    setCurrent(current);
}

void LessonList::setCurrent(const QString& name) {
    const QScopedValueRollback filling(filling_, true);
    for (int i = 0; i < list_->count(); ++i) {
        if (list_->item(i)->data(nameRole).toString() == name && !name.isEmpty())
            list_->setCurrentRow(i);
    }
    const auto at = std::ranges::find(entries_, name, &LessonEntry::name);
    count_->setText(at == entries_.end()
                        ? QString::number(entries_.size())
                        : tr("%1 of %2").arg(at - entries_.begin() + 1).arg(entries_.size()));
}

}  // namespace ui
