#include "lab/lesson_page/lesson_text.h"

#include <QAbstractTextDocumentLayout>
#include <QDir>
#include <QFileInfo>
#include <QFontDatabase>
#include <QImage>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextFrame>
#include <QTextTable>
#include <QWheelEvent>
#include <cmath>
#include <memory>

#include "theme/theme.h"

namespace ui {
namespace {

constexpr int maxCharacters = 75;
constexpr double lineHeight = 130;  // percent

/// Thin lines between the cells, in the theme's colours.
void dressTables(QTextDocument& document, const Tokens& tokens) {
    for (QTextFrame* frame : document.rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (table == nullptr) continue;
        QTextTableFormat format = table->format();
        format.setBorderCollapse(true);
        format.setBorder(1);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderBrush(tokens.line);
        format.setCellPadding(size::grid);
        format.setCellSpacing(0);
        format.setTopMargin(0);
        format.setBottomMargin(size::gap);
        table->setFormat(format);
        for (int row = 0; row < table->rows(); ++row) {
            for (int column = 0; column < table->columns(); ++column) {
                QTextCursor cursor = table->cellAt(row, column).firstCursorPosition();
                QTextBlockFormat block = cursor.blockFormat();
                block.setBottomMargin(0);
                cursor.setBlockFormat(block);
            }
        }
    }
}

}  // namespace

int lessonColumnWidth(const QFont& font) {
    // A line of English text is narrower than as many average characters of the font.
    const QFontMetricsF metrics(font);
    const QString sample = u"the quick brown fox jumps over the lazy dog and then it sleeps"_s;
    const double each = metrics.horizontalAdvance(sample) / static_cast<double>(sample.size());
    return static_cast<int>(std::ceil(each * maxCharacters));
}

LessonText::LessonText(const Theme* theme, const QString& markdown, const QString& folder,
                       QWidget* parent)
    : QTextBrowser(parent), theme_(theme), markdown_(markdown), folder_(folder) {
    setFrameShape(QFrame::NoFrame);
    setProperty("role", u"lesson"_s);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setOpenLinks(false);
    setFocusPolicy(Qt::NoFocus);
    setContextMenuPolicy(Qt::NoContextMenu);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    document()->setDocumentMargin(0);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    applyStyle();
    connect(theme_, &Theme::changed, this, &LessonText::applyStyle);
}

void LessonText::applyStyle() {
    if (std::exchange(dressing_, true)) return;
    document()->setDefaultFont(font());
    document()->setIndentWidth(1.5 * fontMetrics().height());
    document()->setMarkdown(markdown_,
                            QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                                QTextDocument::MarkdownNoHTML);
    QTextCursor cursor(document());
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        cursor.setPosition(block.position());
        QTextBlockFormat format = block.blockFormat();
        format.setLineHeight(lineHeight, QTextBlockFormat::ProportionalHeight);
        format.setTopMargin(0);
        format.setBottomMargin(block.next().isValid() ? size::gap : 0);
        cursor.setBlockFormat(format);
    }
    dressTables(*document(), theme_->tokens());
    dressing_ = false;
    updateGeometry();
}

void LessonText::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::FontChange) applyStyle();
}

void LessonText::resizeEvent(QResizeEvent* event) {
    QTextBrowser::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) updateGeometry();
}

void LessonText::wheelEvent(QWheelEvent* event) { event->ignore(); }  // the column scrolls

int LessonText::heightForWidth(int width) const {
    const std::unique_ptr<QTextDocument> copy(document()->clone());
    copy->setTextWidth(width);
    return static_cast<int>(std::ceil(copy->size().height()));
}

QSize LessonText::sizeHint() const {
    const int wide = width() > 40 ? width() : lessonColumnWidth(font());
    return {lessonColumnWidth(font()), heightForWidth(wide)};
}

QSize LessonText::minimumSizeHint() const { return {120, fontMetrics().height()}; }

QVariant LessonText::loadResource(int type, const QUrl& name) {
    if (type != QTextDocument::ImageResource || folder_.isEmpty() || !name.isRelative()) return {};
    const QString root = QDir(folder_).canonicalPath();
    const QString file = QFileInfo(QDir(root).filePath(name.path())).canonicalFilePath();
    if (root.isEmpty() || !file.startsWith(root + u'/')) return {};
    return QImage(file);
}

}  // namespace ui
