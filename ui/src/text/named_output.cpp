#include "text/named_output.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "engine/base/error.h"
#include "engine/io/named_file.h"

namespace ui {

using namespace Qt::StringLiterals;

FileWriter writerOf(const QString& file, const QByteArray& bytes) {
    return [path = file.toStdString(), bytes] {
        engine::write_named_file(
            path, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    };
}

bool writeNamed(const QString& file, const QByteArray& bytes) {
    try {
        writerOf(file, bytes)();
        return true;
    } catch (const engine::Error&) {
        return false;
    }
}

bool writeNamed(const QString& file, const std::function<bool(const QString&)>& make) {
    try {
        return writeNamed(file, madeByName(file, make));
    } catch (const engine::Error&) {
        return false;
    }
}

QByteArray madeByName(const QString& file, const std::function<bool(const QString&)>& make) {
    const QTemporaryDir folder;
    const QString scratch = folder.filePath(u"scratch."_s + QFileInfo(file).suffix());
    QFile made(scratch);
    if (!folder.isValid() || !make(scratch) || !made.open(QIODevice::ReadOnly)) {
        throw engine::Error(engine::ErrorCode::io,
                            engine::msg("{}: cannot be written.", file.toStdString()),
                            engine::msg("Choose a folder that you may write to."));
    }
    return made.readAll();
}

}  // namespace ui
