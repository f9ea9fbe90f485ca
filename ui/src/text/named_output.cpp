#include "text/named_output.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "engine/error.h"
#include "engine/named_file.h"

namespace ui {

using namespace Qt::StringLiterals;

bool writeNamed(const QString& file, const QByteArray& bytes) {
    try {
        engine::write_named_file(
            file.toStdString(),
            std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
        return true;
    } catch (const engine::Error&) {
        return false;
    }
}

bool writeNamed(const QString& file, const std::function<bool(const QString&)>& make) {
    const QTemporaryDir folder;
    if (!folder.isValid()) return false;
    const QString scratch = folder.filePath(u"scratch."_s + QFileInfo(file).suffix());
    if (!make(scratch)) return false;
    QFile made(scratch);
    return made.open(QIODevice::ReadOnly) && writeNamed(file, made.readAll());
}

}  // namespace ui
