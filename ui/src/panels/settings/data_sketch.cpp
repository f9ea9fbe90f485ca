#include "panels/settings/data_sketch.h"

#include <QHelpEvent>
#include <QTextLayout>
#include <QToolTip>

#include "text/format.h"

namespace ui {

using engine::ColumnPreview;

namespace {

constexpr int maxColumns = 8;
constexpr int passageLines = 5;
constexpr int histogramWidth = 48;
constexpr int maxWords = 8;

struct SketchWords {
    Q_DECLARE_TR_FUNCTIONS(SketchWords)
public:
    static QString more(std::int64_t columns) { return tr("and %1 more").arg(count(columns)); }
    static QString different(std::int64_t words) { return tr("%1 values").arg(count(words)); }
    static QString missing(std::int64_t values) { return tr("%1 missing").arg(count(values)); }
    static QString frequent(const QString& words) { return tr("most frequent: %1").arg(words); }
    static QString target() { return tr("target"); }
};

QString range(const ColumnPreview& column) {
    if (!column.numeric) return SketchWords::different(column.different);
    // A dash between negative numbers would read as a sign.
    return significant(column.lowest) + u" … "_s + significant(column.highest);
}

/// All that is known of a column, for its tool tip.
QString details(const ColumnPreview& column) {
    QStringList lines{QString::fromStdString(column.name)};
    if (column.role == ColumnPreview::Role::target) lines << SketchWords::target();
    lines << range(column);
    if (column.missing > 0) lines << SketchWords::missing(column.missing);
    for (const auto& [word, times] : column.words)
        lines << QString::fromStdString(word) + u": "_s + count(times);
    return lines.join(u'\n');
}

/// Line ends and blanks are letters too.
QString visible(const std::string& word) {
    if (word == "\n") return u"↵"_s;
    if (word == " ") return u"␣"_s;
    return QString::fromStdString(word);
}

}  // namespace

DataSketch::DataSketch(Theme* theme, QWidget* parent) : PaintedWidget(theme, parent) {
    setFont(Theme::caption());
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void DataSketch::show(const engine::DatasetPreview& preview) {
    columns_ = preview.columns;
    // The target first: it is what is learnt.
    std::ranges::stable_sort(columns_, {}, [](const ColumnPreview& column) {
        return column.role == ColumnPreview::Role::target    ? 0
               : column.role == ColumnPreview::Role::feature ? 1
                                                             : 2;
    });
    rangeWidth_ = 0;
    for (int i = 0; i < shownColumns(); ++i)
        rangeWidth_ =
            std::max(rangeWidth_,
                     fontMetrics().horizontalAdvance(range(columns_[static_cast<std::size_t>(i)])));
    text_ = preview.text;
    setVisible(!columns_.empty() || text_);
    setAccessibleName(columns_.empty() ? tr("Beginning of the text") : tr("Columns of the table"));
    updateGeometry();
    update();
}

int DataSketch::rowHeight() const { return fontMetrics().height() + 2; }

int DataSketch::shownColumns() const {
    return std::min(static_cast<int>(columns_.size()), maxColumns);
}

QSize DataSketch::sizeHint() const {
    int rows = shownColumns() + (static_cast<int>(columns_.size()) > maxColumns ? 1 : 0);
    if (text_) rows = passageLines + 1;
    return {200, rows * rowHeight()};
}

void DataSketch::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (text_) return paintText(painter);
    for (int i = 0; i < shownColumns(); ++i)
        paintColumn(painter, columns_[static_cast<std::size_t>(i)],
                    QRect(0, i * rowHeight(), width(), rowHeight()));
    const auto more = std::ssize(columns_) - maxColumns;
    if (more <= 0) return;
    painter.setPen(theme_->tokens().dim);
    painter.drawText(QRect(0, maxColumns * rowHeight(), width(), rowHeight()),
                     Qt::AlignLeft | Qt::AlignVCenter, SketchWords::more(more));
}

void DataSketch::paintColumn(QPainter& painter, const ColumnPreview& column,
                             const QRect& row) const {
    const Tokens& t = theme_->tokens();
    const QString numbers = range(column);
    const QRect picture(row.right() - rangeWidth_ - size::gap - histogramWidth, row.top() + 1,
                        histogramWidth, row.height() - 3);
    const bool target = column.role == ColumnPreview::Role::target;
    const bool unused = column.role == ColumnPreview::Role::unused;
    QString name = QString::fromStdString(column.name);
    if (target) name = u"→ "_s + name;
    painter.setPen(unused ? t.dim : t.text);
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(name, Qt::ElideRight, picture.left() - size::gap));
    painter.setPen(t.dim);
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, numbers);
    paintHistogram(painter, column, picture);
}

void DataSketch::paintHistogram(QPainter& painter, const ColumnPreview& column,
                                const QRect& place) const {
    if (column.histogram.empty()) return;
    const auto most = std::max<std::int64_t>(*std::ranges::max_element(column.histogram), 1);
    const auto bars = static_cast<int>(column.histogram.size());
    const Tokens& t = theme_->tokens();
    const QColor color = column.role == ColumnPreview::Role::target ? t.accent : t.dim;
    for (int i = 0; i < bars; ++i) {
        const std::int64_t value = column.histogram[static_cast<std::size_t>(i)];
        if (value == 0) continue;
        const int left = place.left() + i * place.width() / bars;
        const int next = place.left() + (i + 1) * place.width() / bars;
        const int high = std::max<int>(1, static_cast<int>(value * place.height() / most));
        painter.fillRect(left, place.bottom() - high + 1, std::max(1, next - left - 1), high,
                         color);
    }
}

/// The passage in whole lines, the last one with "…" where the text goes on.
QStringList DataSketch::passageIn(int width) const {
    QString text = QString::fromStdString(text_->passage).trimmed();
    text.replace(u'\n', QChar::LineSeparator);
    QTextLayout layout(text, font());
    layout.beginLayout();
    QStringList lines;
    while (lines.size() < passageLines) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) break;
        line.setLineWidth(width);
        const int end = line.textStart() + line.textLength();
        QString shown = text.mid(line.textStart(), line.textLength()).trimmed();
        if (lines.size() == passageLines - 1 && end < text.size())
            shown = fontMetrics().elidedText(shown + u" …"_s, Qt::ElideRight, width);
        lines << shown;
    }
    layout.endLayout();
    return lines;
}

void DataSketch::paintText(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    painter.setPen(t.text);
    const QStringList lines = passageIn(width());
    for (int i = 0; i < lines.size(); ++i)
        painter.drawText(QRect(0, i * rowHeight(), width(), rowHeight()),
                         Qt::AlignLeft | Qt::AlignVCenter, lines.at(i));
    QStringList words;
    for (const auto& [word, times] : text_->frequent) {
        if (words.size() < maxWords) words << visible(word);
    }
    painter.setPen(t.dim);
    const QString line = SketchWords::frequent(words.join(u' '));
    painter.drawText(QRect(0, passageLines * rowHeight(), width(), rowHeight()),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(line, Qt::ElideRight, width()));
}

bool DataSketch::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = help->pos().y() / rowHeight();
    if (!text_ && row < shownColumns())
        QToolTip::showText(help->globalPos(), details(columns_[static_cast<std::size_t>(row)]),
                           this);
    return true;
}

}  // namespace ui
