#include "lab/lesson_text.h"

#include <QAbstractTextDocumentLayout>
#include <QDir>
#include <QFileInfo>
#include <QFontDatabase>
#include <QImage>
#include <QTextBlock>
#include <QTextCursor>
#include <QWheelEvent>
#include <cmath>
#include <memory>

#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int mostCharacters = 75;
constexpr double lineHeight = 130;  // percent

}  // namespace

int lessonColumnWidth(const QFont& font) {
    // A line of English text is narrower than as many average characters of the font.
    const QFontMetricsF metrics(font);
    const QString sample = u"the quick brown fox jumps over the lazy dog and then it sleeps"_s;
    const double each = metrics.horizontalAdvance(sample) / static_cast<double>(sample.size());
    return static_cast<int>(std::ceil(each * mostCharacters));
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
    dress();
    connect(theme_, &Theme::changed, this, &LessonText::dress);
}

void LessonText::dress() {
    if (std::exchange(dressing_, true)) return;
    document()->setDefaultFont(font());
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
    dressing_ = false;
    updateGeometry();
}

void LessonText::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::FontChange) dress();
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
