#pragma once

#include <QTextBrowser>

namespace ui {

class Theme;

/// Markdown of a lesson, at its full height, so that the column scrolls instead of the text. HTML
/// in it is shown as text, links open nothing by themselves, and pictures come from the lesson's
/// folder only. GUI thread.
class LessonText final : public QTextBrowser {
    Q_OBJECT
public:
    /// `folder`: of the lesson; empty: the text shows no pictures.
    LessonText(const Theme* theme, const QString& markdown, const QString& folder,
               QWidget* parent = nullptr);

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    QVariant loadResource(int type, const QUrl& name) override;

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    void applyStyle();

    const Theme* theme_;
    QString markdown_;
    QString folder_;
    bool dressing_ = false;
};

/// Width of the 75 average characters that a line of the column may have, in pixels.
int lessonColumnWidth(const QFont& font);

}  // namespace ui
