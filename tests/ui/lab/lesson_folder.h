#pragma once

#include <QFile>
#include <QString>
#include <QTemporaryDir>
#include <string>

namespace ui {

/// Writes the file of a lesson into a folder and returns its path.
inline QString writeLesson(const QTemporaryDir& folder, const QString& name,
                           const std::string& text) {
    QFile file(folder.filePath(name + QStringLiteral(".lesson.md")));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text.data(), static_cast<qint64>(text.size()));
    return file.fileName();
}

}  // namespace ui
