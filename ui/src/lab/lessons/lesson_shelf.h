#pragma once

#include <QObject>
#include <QTimer>
#include <optional>
#include <vector>

#include "engine/lab/lesson_files.h"
#include "lab/lessons/lesson_list.h"

namespace ui {

/// The lessons that can be chosen: the built-in ones, and those of files, folders and archives that
/// were opened. An opened lesson with the name of a built-in one takes its place. Watches the file
/// of the lesson that is shown. GUI thread.
class LessonShelf final : public QObject {
    Q_OBJECT
public:
    /// `language`: "en", "zh".
    explicit LessonShelf(QString language, QObject* parent = nullptr);

    /// Lessons are found in this language from now on.
    void setLanguage(const QString& language) { language_ = language; }
    /// Opens a lesson, or a folder or zip archive of lessons, and returns the name of its first
    /// one. Throws engine::Error(data) where there is none.
    QString open(const QString& path);
    /// The lessons in the order of the list, without progress.
    std::vector<LessonEntry> entries() const;
    /// Finds a lesson in the window's language; null if there is none of that name.
    const engine::Lesson* find(const QString& name) const;
    /// The file that can be edited; empty: it is built in or in an archive.
    QString fileOf(const QString& name) const;
    /// Reports changes of this lesson's file from now on.
    void watch(const QString& name);
    /// Reads the lesson's file, folder or archive again. Throws engine::Error.
    void reload(const QString& name);

signals:
    void fileChanged(const QString& name);

private:
    const engine::LessonLibrary* libraryOf(const QString& name) const;
    const engine::LessonFiles* filesOf(const QString& name) const;
    std::vector<std::string> names() const;

    QString language_;
    std::vector<engine::LessonLibrary> opened_;  ///< the newest last; it wins
    QString watched_;
    std::optional<engine::LessonFileWatch> watch_;
    QTimer look_;
};

/// A title before and after its colon: "Lost updates", "why master weights are FP32".
std::pair<QString, QString> titleParts(const engine::Lesson& lesson);

}  // namespace ui
