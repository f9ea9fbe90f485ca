#pragma once

#include <QFrame>
#include <QLabel>
#include <QListWidget>
#include <vector>

namespace ui {

class Theme;

/// A line of the list of lessons.
struct LessonEntry {
    QString name;  ///< of its file, without ".lesson.md"
    QString title;
    QString chapter;
    int minutes = 0;
    bool broken = false;  ///< its file has errors
    double progress = 0;  ///< share of its steps; 1: done
    QString from;         ///< file or folder that it was opened from; empty: comes with Halftone
};

/// The lessons by chapter, each with its progress, and "Open lesson…" below. GUI thread.
class LessonList final : public QFrame {
    Q_OBJECT
public:
    explicit LessonList(const Theme* theme, QWidget* parent = nullptr);

    void setEntries(std::vector<LessonEntry> entries, const QString& current);
    const std::vector<LessonEntry>& entries() const { return entries_; }
    void setCurrent(const QString& name);

signals:
    void chosen(const QString& name);
    void openWanted();
    /// Enter, or a double click, on a lesson.
    void entered();

private:
    const Theme* theme_;
    std::vector<LessonEntry> entries_;
    QLabel* count_;
    QListWidget* list_;
    bool filling_ = false;
};

}  // namespace ui
